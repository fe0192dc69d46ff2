"""Files of recorded ground motions: one reader a format; `read` is the door."""
