"""What moves a structure through time: small explicit steps with Coulomb friction, patch by patch."""
