"""The geometry doctor: `examine` lists all that is wrong with a structure, `repair` mends what is safe to mend."""
