# Needs python 3.11 or newer with venv, and make; everything else is installed into .venv.

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.set-up
IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
TORCH := $(shell grep '^torch==' constraints.txt)

.DEFAULT_GOAL := help
.PHONY: help setup run test coverage lint format docs clean

help: ## Say what each target does.
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/'

setup: $(STAMP) ## Make .venv with pinned versions; quick when nothing changed.

$(STAMP): pyproject.toml constraints.txt
	@rm -f $(STAMP)
	@echo "Installing pinned versions into $(VENV): a few minutes the first time."
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
		found=; for python in $(PYTHON) python3.11 python3; do \
			if $$python -c '$(IS_NEW_ENOUGH)' 2>/dev/null; then found=$$python; break; fi; \
		done; \
		if [ -z "$$found" ]; then \
			echo "Python 3.11 or newer was not found. Install it, or run: make PYTHON=/path/to/it" >&2; \
			exit 1; \
		fi; \
		$$found -m venv --clear $(VENV); \
	fi
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt $(TORCH)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)
	@echo "Ready."

run: setup ## Train BPGNN on the embedded Cora.
	@$(BIN)/bpgnn train cora --preset tuned --threads 1

# The tests use small tensors, on which threads only wait for each other: two processes instead.
test: lint ## Lint, check types and layers, and run the default test suite.
	OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

coverage: setup ## Run the default test suite, and show which lines it does not reach.
	OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --cov --cov-report=term:skip-covered

lint: setup ## Lint, check types and layers.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports

format: setup ## Format, and mend what can be mended.
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Warnings are errors; the variable silences a message about the makers' next product.
docs: setup ## Build the documentation into site/.
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "Open site/index.html. To search it as well: $(BIN)/mkdocs serve"

clean: ## Remove .venv, caches and build leftovers; runs stay.
	rm -rf $(VENV) build dist site src/*.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} +
