"""Files read with a bound, written all at once, locked and checked."""
