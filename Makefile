# make demo and make test need Python >= 3.11 and make, nothing else: each prepares .venv.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
ifdef UV
INSTALL := uv pip install --quiet --python $(BIN)/python
else
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif
WORKERS ?= logical
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo reproduce test soak check lint types imports docs bench clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

demo: $(VENV)/.installed ## audit five synthetic hospitals and print the answer
	@$(BIN)/fedparity demo --out build/demo

reproduce: $(VENV)/.installed-reproduction ## rebuild the paper's tables and figures; a first look: QUICK=1
	$(BIN)/fedparity-reproduce all --out build/reproduction$(if $(QUICK),-quick --quick)

test: $(VENV)/.installed-test $(VENV)/.installed-reproduction ## run the tests; the long ones as well: make test ALL=1
	$(PYTEST) --tier $(if $(ALL),all,quick)

soak: $(VENV)/.installed-test $(VENV)/.installed-reproduction ## run what draws cases at random in full counts, for hours
	$(PYTEST) --tier soak

check: lint types imports ## everything that reads the code without running it

lint: $(VENV)/.installed-lint ## style and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.installed-lint $(VENV)/.installed-test $(VENV)/.installed-reproduction ## types
	$(BIN)/mypy

imports: $(VENV)/.installed-lint ## layers: who may import whom
	$(BIN)/lint-imports

docs: $(VENV)/.installed-docs ## build the documentation into docs/_build
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q docs docs/_build

bench: $(VENV)/.installed-test ## compare with the peers, on this machine
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/report.py

clean: ## remove what these targets made
	rm -rf $(VENV) build/demo build/reproduction build/reproduction-quick docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: fedparity needs Python 3.11 or later, but $(PYTHON) is older."; \
	  echo "fix: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Preparing $(VENV) ..."
ifdef UV
	@uv venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -m venv $(VENV)
endif

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable .
	@touch $@

$(VENV)/.installed-reproduction: pyproject.toml reproduction/pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable . --editable reproduction
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable '.[$*]'
	@touch $@
