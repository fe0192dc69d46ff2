"""What came out: runs on disk and the numbers that are read from them."""
