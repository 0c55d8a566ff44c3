# `make help` lists the targets. Everything is installed into .venv; nothing else is touched, but
# that `make test` as root on Debian also installs Debian's nsys and Chromium for their tests.
SHELL := /bin/bash
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
DOCS := README.md docs/*.md docs/develop/*.md traces/*.md

BASELINE := traces/gemma-4-e4b-eager.nsys2025.3.sqlite.xz
CANDIDATE := traces/gemma-4-e4b-cudagraph.node.nsys2025.3.sqlite.xz
FUZZ_SECONDS ?= 60
ROBUSTNESS := tests/faults tests/fuzz $(wildcard tests/robustness)

.DEFAULT_GOAL := help
.PHONY: help demo install dev torch tools test fuzz robustness static check format lint imports \
	types docs docs-check examples action-lock snapshots benchmark wheel clean

help: ## List the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' $(MAKEFILE_LIST) | \
		while IFS=$$'\t' read -r name text; do printf '  %-11s %s\n' "$$name" "$$text"; done

demo: install ## Compare two shipped traces, eager against CUDA graph (no GPU needed)
	@mkdir -p out
	@$(BIN)/launchlens diff $(BASELINE) $(CANDIDATE)
	@$(BIN)/launchlens diff $(BASELINE) $(CANDIDATE) --format markdown --output out/gemma-4-e4b.md

# --- setting up; a stamp file makes each step happen once ---

install: $(VENV)/.installed ## The program in .venv, with what it needs and no more
dev: $(VENV)/.dev ## And the tools that check it
torch: $(VENV)/.torch ## And torch and transformers, for the tests that run a model
tools: $(VENV)/.tools ## And nsys and Chromium, as root on Debian

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "launchlens needs Python 3.11 or newer: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { \
		echo "venv is missing: on Debian, apt-get install python3-venv" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "installing launchlens into $(VENV)"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml .ci/constraints.txt $(VENV)/.installed
	@echo "installing the development tools into $(VENV)"
	@$(PIP) install --constraint .ci/constraints.txt --editable '.[dev]'
	@touch $@

# torch is large, and not there for every Python: without it the tests that need it skip, and say
# so. No stamp is left then, so that the next run tries again.
$(VENV)/.torch: tests/requirements-torch.txt | $(VENV)/.dev
	@echo "installing torch and transformers into $(VENV) (some hundred megabytes)"
	@if $(PIP) install --requirement tests/requirements-torch.txt; then touch $@; else \
		echo "torch could not be installed: the tests that need it skip" >&2; fi

# Nsight Systems and a browser come from the system's packages, not from pip.
$(VENV)/.tools: .ci/install-nsys .ci/install-chromium | $(BIN)/python
	@if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "not root on Debian: nsys and Chromium are not installed, tests without them skip"; \
	elif .ci/install-nsys && .ci/install-chromium; then touch $@; else \
		echo "nsys or Chromium could not be installed: tests without them skip" >&2; fi

# --- checking ---

test: dev torch tools ## All tests; sets up what they need, and skips what cannot be had
	@$(BIN)/python -m pytest $(ARGS)

fuzz: dev ## Spoil traces, thresholds, budgets and reports for a minute (FUZZ_SECONDS, FUZZ_SEED)
	@$(BIN)/python tests/fuzz/run.py --seconds $(FUZZ_SECONDS) $(FUZZ_SEED:%=--seed %)

robustness: dev ## Tests of faults, then ten minutes of fuzzing: prints the numbers tried
	@$(BIN)/python -m pytest -q $(ROBUSTNESS)
	@$(BIN)/python tests/fuzz/run.py --seconds 600 $(FUZZ_SEED:%=--seed %)

check: test fuzz static demo ## All that CI checks

static: format lint imports types docs-check wheel

format: dev
	@$(BIN)/ruff format --check .

lint: dev
	@$(BIN)/ruff check .

imports: dev
	@$(BIN)/lint-imports

types: dev
	@$(BIN)/mypy

docs-check: dev
	@PYTHONPATH=docs $(BIN)/python -m cogapp --check --diff --verbosity=1 \
		--check-fail-msg='run make docs' $(DOCS)

wheel: dev ## Build the wheel and start it without the development tools
	@rm -rf build/wheel && $(PIP) wheel --no-deps --wheel-dir build/wheel . 
	@$(BIN)/python .ci/check_wheel.py build/wheel/*.whl

# --- writing ---

docs: dev ## Write help, output and tables into the documentation anew
	@PYTHONPATH=docs $(BIN)/python -m cogapp -r --verbosity=1 $(DOCS)

examples: dev ## Draw docs/examples anew from the recorded gemma-4-E4B run (needs Chromium)
	@$(BIN)/python docs/draw_examples.py

snapshots: dev ## Write the expected reports of the tests anew
	@LAUNCHLENS_UPDATE_SNAPSHOTS=1 $(BIN)/python -m pytest tests/render tests/cli

benchmark: dev ## Measure speed and memory (five minutes, 700 MB), for docs/develop/benchmarks.md
	@$(PIP) install --editable '.[bench]'
	@$(BIN)/python benchmarks/run.py

clean: ## Remove what was built (not .venv)
	@rm -rf build out .mypy_cache .pytest_cache .ruff_cache .import_linter_cache

action-lock: $(BIN)/python ## Raise what the GitHub Action installs (needs the network)
	@$(PIP) install pip-tools
	@head -2 .ci/action-requirements.txt > .ci/action-requirements.new
	@echo hatchling | $(BIN)/python -m piptools compile --quiet --generate-hashes --no-header \
		--no-emit-index-url --no-emit-find-links --strip-extras --no-annotate --allow-unsafe \
		--output-file - pyproject.toml - >> .ci/action-requirements.new
	@mv .ci/action-requirements.new .ci/action-requirements.txt
