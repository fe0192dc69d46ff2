"""The default integrator: small explicit steps with Coulomb friction, patch by patch."""
