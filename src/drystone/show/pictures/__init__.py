"""Pictures and movies of structures and runs, drawn without graphics hardware."""
