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
.PHONY: help demo reproduce test soak coverage check lint types imports workflows files docs bench lock clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

demo: $(VENV)/.installed-report ## audit five synthetic hospitals; opens the report with OPEN=1
	@$(BIN)/fedparity demo --out build/demo$(if $(OPEN), --open)

reproduce: $(VENV)/.installed-reproduction ## rebuild the paper's tables and figures; a first look: QUICK=1
	$(BIN)/fedparity-reproduce all --out build/reproduction$(if $(QUICK),-quick --quick)

test: $(VENV)/.installed-test $(VENV)/.installed-reproduction ## run the tests; the long ones as well: make test ALL=1
	$(PYTEST) --tier $(if $(ALL),all,quick)

soak: $(VENV)/.installed-test $(VENV)/.installed-reproduction ## run what draws cases at random in full counts, for hours
	$(PYTEST) --tier soak

coverage: $(VENV)/.installed-test $(VENV)/.installed-reproduction ## run the quick tests and require the share of the code in pyproject.toml
	$(PYTEST) --tier quick --cov --cov-report=term:skip-covered --cov-report=xml:build/coverage.xml

check: $(VENV)/.installed-lint ## run every pre-commit hook: the five targets below
	$(BIN)/pre-commit run --all-files

lint: $(VENV)/.installed-lint ## style and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.installed-lint $(VENV)/.installed-test $(VENV)/.installed-reproduction ## types
	$(BIN)/mypy

imports: $(VENV)/.installed-lint ## layers: who may import whom
	$(BIN)/lint-imports

workflows: $(VENV)/.installed-lint ## the workflow files against their schema, which needs no network
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

files: $(BIN)/python ## whitespace, ends of lines and sizes of all files in git
	$(BIN)/python .ci/check_files.py

docs: $(VENV)/.installed-docs ## build the documentation into docs/_build
	rm -rf docs/reference/api # pages of names, one of which may be gone
	$(BIN)/python -m sphinx --fail-on-warning --keep-going -q docs docs/_build

bench: $(VENV)/.installed-test ## compare with the peers, on this machine
	$(BIN)/python benchmarks/core.py
	$(BIN)/python benchmarks/report.py

lock: ## write requirements-dev.lock again, with the newest versions; needs uv
	uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --custom-compile-command 'make lock' --output-file requirements-dev.lock pyproject.toml --all-extras --group dev

clean: ## remove what these targets made
	rm -rf $(VENV) build/demo build/coverage.xml .coverage build/reproduction build/reproduction-quick docs/_build docs/jupyter_execute .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: fedparity needs Python 3.11 or later, but $(PYTHON) is older."; \
	  echo "fix: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "Preparing $(VENV) ..."
ifdef UV
	@uv venv --quiet --python $(PYTHON) $(VENV)
else
	@$(PYTHON) -m venv $(VENV)
	@$(INSTALL) --upgrade 'pip>=25.1' # the first that knows dependency groups
endif

$(VENV)/.installed-report: pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable '.[report]'
	@touch $@

$(VENV)/.installed-reproduction: pyproject.toml reproduction/pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable . --editable reproduction
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable '.[all]' --group test
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	@$(INSTALL) --editable . --group $*
	@touch $@
