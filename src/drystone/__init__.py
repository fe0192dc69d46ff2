"""drystone: how a historical masonry structure stands, moves and falls."""
