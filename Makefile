# Every target works from a fresh clone: it sets up what it needs in $(VENV) and says so.
PYTHON ?= python3
VENV ?= .venv
# Processes that run tests at the same time.
WORKERS ?= 2
# More arguments for pytest, for example: make test PYTEST_ARGS="-k frontier"
PYTEST_ARGS ?=

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
export PIP_DISABLE_PIP_VERSION_CHECK := 1

BIN := $(VENV)/bin
# Quiet twice: errors only.
PIP_INSTALL := install --quiet --quiet --constraint constraints.txt
INSTALL := $(BIN)/python -m pip $(PIP_INSTALL) --editable
# pip compiles what it installs, but not what stays in place: each command would, for 0.4 s.
COMPILE := $(BIN)/python -m compileall -q app calibration hardware_profiles sim

.PHONY: help demo app test check format bench accuracy blind calibrate collect-test claims golden wheel-test clean

## help: list the targets
help:
	@sed -n 's/^## \([a-z-]*\): /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-11s %s\n", $$1, $$2 }'

## demo: set up, run the built-in scenario, then compare three decoding strategies on it
demo: $(VENV)/.installed
	$(BIN)/paretoken run chat-70b-h100
	$(BIN)/paretoken frontier chat-70b-h100

## app: set up and open the dashboard
app: $(VENV)/.installed-app
	$(BIN)/paretoken app

## test: set up, then everything that must hold: check and the tests
test: check
	$(BIN)/python -m pytest -n $(WORKERS) --benchmark-disable $(PYTEST_ARGS)

## check: format, lint, types, direction of imports (no tests)
check: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

## format: let ruff format and mend what it can
format: $(VENV)/.installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

## bench: measure the speed of the simulator
bench: $(VENV)/.installed-dev
	$(BIN)/python tests/bench/bench.py --day

## accuracy: compare with measured serving runs and write docs/accuracy.md
accuracy: $(VENV)/.installed-dev
	$(BIN)/python -m calibration.accuracy

## blind: compare with published runs that nothing was tuned on and write docs/blind.md
blind: $(VENV)/.installed-dev
	$(BIN)/python -m calibration.blind

## claims: measure anew what docs/claims.md says, and write it
claims: $(VENV)/.installed-dev
	$(BIN)/paretoken claims --out docs

## collect-test: with torch installed as well, collect, fit and predict on this CPU for real
collect-test: $(VENV)/.installed-dev
	$(BIN)/python -c "import torch" || $(BIN)/python -m pip $(PIP_INSTALL) "torch>=2.5"
	$(BIN)/python -m pytest -m slow --benchmark-disable tests/calibration/collect $(PYTEST_ARGS)

## calibrate: fit the shipped kernel profiles anew from the public tables (20 minutes)
calibrate: $(VENV)/.installed-dev
	@$(BIN)/python -m pip $(PIP_INSTALL) --no-deps aiconfigurator-core==0.12.0
	$(BIN)/python -m calibration.fit.shipped

## golden: write the golden files anew (look at the difference before you commit it)
golden: $(VENV)/.installed-dev
	$(BIN)/python tests/golden/regenerate.py

## wheel-test: build the wheel, install it in an empty environment elsewhere, and use it there
wheel-test: $(VENV)/.installed-dev
	@rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist . > /dev/null
	@shipped=$$($(BIN)/python -m zipfile --list dist/*.whl); \
	for file in $$(git ls-files app calibration hardware_profiles sim); do \
	    [[ "$$shipped" == *"$$file "* ]] \
	        || { echo "wheel-test: $$file is not in the wheel" >&2; exit 1; }; \
	done
	@place=$$(mktemp -d); trap 'rm -rf "$$place"' EXIT; wheel=$$(ls "$$PWD"/dist/*.whl); \
	$(PYTHON) -m venv "$$place/venv"; \
	"$$place/venv/bin/python" -m pip $(PIP_INSTALL) "$$wheel"; \
	cd "$$place"; set -x; \
	venv/bin/paretoken --help > help.txt; \
	venv/bin/paretoken list scenarios; \
	venv/bin/paretoken run chat-70b-h100 --json > outcome.json; \
	venv/bin/python -m json.tool outcome.json > /dev/null
	@echo "wheel-test: the wheel works in an empty environment"

## clean: remove the environment, caches and builds
clean:
	rm -rf $(VENV) dist out .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- setting up -----------------------------------------------------------------------------

# The script says in one sentence what is missing; with all in place it makes the environment.
$(BIN)/python:
	@command -v $(PYTHON) > /dev/null \
	    || { echo "paretoken needs Python 3.11 or newer, and there is no '$(PYTHON)' here; install it, or name one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "paretoken needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -c 'import platform; print(platform.python_version())'); name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null \
	    || { echo "paretoken needs Python's venv module, which '$(PYTHON)' lacks; on Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Setting up $(VENV), once"
	@$(PYTHON) -m venv --clear $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing paretoken"
	@$(INSTALL) .
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-app: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing paretoken with the dashboard"
	@$(INSTALL) '.[app]'
	@$(COMPILE)
	@touch $(VENV)/.installed $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing paretoken with the dashboard and the tools of the tests"
	@$(INSTALL) '.[app,dev]'
	@$(COMPILE)
	@touch $(VENV)/.installed $(VENV)/.installed-app $@
