"""Contact solvers: one file a method, all graded by `residual`."""
