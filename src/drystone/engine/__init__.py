"""What moves a structure through time: two integrators side by side, their solvers, and the loop over time steps."""
