PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.DEFAULT_GOAL := help
.PHONY: help setup reproduce test lint docs lowest bench clean

help: ## show the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

# The stamp makes set-up run once, and again when the project's requirements change.
$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "tacit needs Python 3.11 or newer; this is %s: set PYTHON=python3.x" % sys.version.split()[0])'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

setup: $(VENV)/.ready ## make .venv and install tacit with its test tools

reproduce: setup ## every experiment at the quick preset, on all cores, then results/index.html
	$(BIN)/tacit reproduce --all --preset quick || test $$? -eq 3  # 3: some claims are undecided

# Two processes of one thread each: the threads of two would wait for each other. Files in their
# order: files of one long test would come last otherwise, and one process would wait for the other.
# Bytecode is kept even where the environment says no: some fifty tests start a process, and each
# would compile tacit again.
# Then ten tests of each room as users run it: without the type checker, and compiled as for them.
test: export PYTHONDONTWRITEBYTECODE =
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: export MKL_NUM_THREADS = 1
test: setup ## the whole test suite
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	$(BIN)/python -m pytest -n 2 --dist loadfile --as-users -o addopts="--import-mode=importlib --strict-markers"

lint: setup ## formatting, lint, types and import arrows
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/.docs: pyproject.toml $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@

docs: $(VENV)/.docs ## the documentation, into docs/_build/html; warnings are errors
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q docs docs/_build/html

lowest: ## a light part of the tests, with the lowest versions that pyproject.toml allows
	PYTHON=$(PYTHON) tools/lowest

$(VENV)/.bench: pyproject.toml $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@

bench: $(VENV)/.bench ## speed against peers, one JSON line each
	$(BIN)/python -m benchmarks

clean: ## remove the environment and caches (never results)
	rm -rf $(VENV) .venv-lowest .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
