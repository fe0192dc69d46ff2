"""Pictures of runs; attaches to a `Run`, never to the simulator."""
