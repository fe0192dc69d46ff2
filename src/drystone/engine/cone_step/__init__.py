"""The time step of the papers: one cone program per step. Its integrator, mortar and deformable blocks."""
