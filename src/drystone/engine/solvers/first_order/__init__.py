"""First-order methods, which visit one contact after another or follow a gradient."""
