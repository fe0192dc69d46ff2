"""The benchmark: `python -m bench.run` measures, `python -m bench.report` writes docs/performance.md."""
