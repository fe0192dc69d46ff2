"""What moves a structure through time: small explicit steps with exact friction, patch by patch."""
