# Two commands on a fresh machine with Python >= 3.11: `make demo` and `make test`.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
RIVALS := $(VENV)/.rivals
PAGE := src/drystone/show/page/bundle/index.html
KERNELS := src/drystone/base/kernel/compiled

# Python keeps its own compiled files, whatever the shell says: a start of drystone is then a fifth shorter.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-portable wheel soak lint page docs bench gallery clean

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[all]'
	touch $(READY)

# What only developers need; a demo does without.
$(TOOLS): $(READY)
	$(BIN)/python -m pip install --quiet --group dev
	touch $(TOOLS)

# The page for the browser, built by npm. Without Node.js all else works, and `drystone view` says what is missing.
page: $(PAGE)

$(PAGE): $(wildcard page/* page/src/*)
	@if command -v npm > /dev/null && (cd page && npm install --silent --fetch-retries=1); then \
	  cd page && npm run --silent check && npm run --silent build; \
	else echo "the page for the browser is not built: it needs Node.js 20 and the npm registry; all else works"; fi

demo: $(READY) page
	$(BIN)/drystone run examples/demo.toml -o demo/arch --force --picture
	$(BIN)/drystone report demo/arch -o demo/report.html
	@if [ -e $(PAGE) ]; then $(BIN)/drystone view demo/arch --html demo/arch.html; fi
	@echo "a picture: demo/arch/last.png   a report: demo/report.html   the run to play with in any browser: demo/arch.html"
	@echo "next: source $(BIN)/activate, then docs/tutorials/first-arch.md, or drystone studio"

# The kernels are compiled once, before two test processes would each do it.
test: $(TOOLS) page
	$(BIN)/drystone compile
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations=10

# The tests of physics as another processor would compute them; it has its own time limit.
test-portable: $(TOOLS)
	$(BIN)/python tests/portable.py

# A wheel for this Python and machine with the page and all kernels inside, in dist/: who installs it compiles nothing.
wheel: $(TOOLS) page
	rm -rf $(KERNELS) $(VENV)/wheel-cache dist
	XDG_CACHE_HOME=$(VENV)/wheel-cache $(BIN)/drystone compile
	mkdir -p $(KERNELS)
	cp $(VENV)/wheel-cache/drystone/kernels/*.kernel $(KERNELS)
	$(BIN)/python -m hatchling build -t wheel -d dist; status=$$?; rm -rf $(KERNELS); exit $$status

# The long tests only: a hundred runs and studies killed, and the like.
soak: $(TOOLS) page
	$(BIN)/drystone compile
	$(BIN)/python -m pytest -m soak

lint: $(TOOLS)
	$(BIN)/ruff check src tests bench docs build_hook.py
	$(BIN)/ruff format --check src tests bench docs build_hook.py
	$(BIN)/mypy

# The site, in docs/_build/html; a warning is an error. Needs no network once the tools are installed.
docs: $(TOOLS)
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs docs/_build/html

gallery: $(READY)
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/statics.py

# What the benchmark compares with, each by itself: it leaves out what does not install, and says so; next time it is tried again.
$(RIVALS): $(READY)
	all=yes; \
	$(BIN)/python -m pip install --quiet --group bench-rapier || all=no; \
	$(BIN)/python -m pip install --quiet --group bench-mujoco || all=no; \
	$(BIN)/python -m pip install --quiet --no-deps --group bench-lmgc90 || all=no; \
	if [ $$all = yes ]; then touch $(RIVALS); fi

# More with BENCH="--full" or BENCH="--part histories --seconds 600", or see --help. `python -m bench.report` writes the results into docs/performance.md and the README.
bench: $(RIVALS)
	$(BIN)/python -m bench.run $(BENCH)

clean:
	rm -rf $(VENV) page/node_modules src/drystone/show/page/bundle docs/_build docs/reference demo .pytest_cache .mypy_cache .ruff_cache
