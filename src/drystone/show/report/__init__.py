"""A report that can be sent: a `Run` or a study comes in, one HTML file goes out."""
