"""Ground motions as they were recorded or made up: accelerograms, what is measured of them, and what is done to them."""
