"""Files in and out: block files and cases. Everything is checked here or in `model`, the door."""
