"""Runs on disk: written as they go, read without the files they came from."""
