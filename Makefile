# Two commands on a fresh machine with Python >= 3.11: `make demo` and `make test`.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools

.PHONY: demo test lint bench gallery clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	touch $(READY)

# What only developers need; a demo does without.
$(TOOLS): $(READY)
	$(BIN)/python -m pip install --quiet --group dev
	touch $(TOOLS)

demo: $(READY)
	$(BIN)/drystone run examples/demo.toml -o demo/arch --force --picture
	@echo "the run and its picture: demo/arch/last.png"

# The kernels are compiled once, before two test processes would each do it.
test: $(TOOLS)
	$(BIN)/python tests/warm_up.py
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(TOOLS)
	$(BIN)/ruff check src tests bench
	$(BIN)/mypy

gallery: $(READY)
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/statics.py

# More with BENCH="--full", or see --help; `python -m bench.report` writes the results into docs/performance.md and the README.
bench: $(READY)
	$(BIN)/python -m bench.run $(BENCH)

clean:
	rm -rf $(VENV) demo .pytest_cache .mypy_cache .ruff_cache
