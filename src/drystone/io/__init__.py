"""Files in and out: case files, geometry, contact problems, and the geometry doctor. Input is checked here or in
`structure.model`."""
