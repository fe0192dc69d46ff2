"""What stands: blocks, joints, loads and the checked `Model` made of them."""
