# Fresh clone to result: `make demo`. Everything the tests need: `make test`. What CI runs besides: `make check`. The documentation: `make docs`.
PYTHON ?= python3
VENV := .venv
CLEAN := build/clean-venv
BIN := $(VENV)/bin
# One more than there are cores, because many tests wait for processes that they start; each takes about a gigabyte.
WORKERS = $(shell $(PYTHON) -c "import os; print(min(4, (os.cpu_count() or 1) + 1))")
PIP := -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test check lint wheel docs audit clean

demo: $(VENV)/.installed
	$(BIN)/discsum parse data/samples/harbour.txt
	@echo
	$(BIN)/discsum extract data/samples/harbour.txt --units 3

test: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

check: lint wheel

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# The wheel is typed, its imports keep to the layers, it installs where nothing of this folder is seen, and works without a network.
wheel: $(VENV)/.installed-dev
	rm -rf build dist && mkdir -p build
	$(BIN)/python -m build --wheel --outdir dist
	$(PYTHON) -m venv $(CLEAN)
	$(CLEAN)/bin/python $(PIP) dist/*.whl mypy types-PyYAML import-linter
	cp data/samples/harbour.txt pyproject.toml build/
	cd build && clean-venv/bin/python -m mypy --config-file pyproject.toml -p discsum
	cd build && clean-venv/bin/lint-imports --config pyproject.toml --no-cache
	cd build && HF_HUB_OFFLINE=1 clean-venv/bin/discsum extract harbour.txt --units 3
	cd build && HF_HUB_OFFLINE=1 clean-venv/bin/discsum parse harbour.txt --format rs3 -o harbour.rs3

# Faults in the code by bandit, known faults of the installed libraries by pip-audit where it can reach its data, and a
# CycloneDX list of what the wheel installs, in build/discsum.cdx.json.
audit:
	rm -rf build/audit-venv build/installed-venv dist && mkdir -p build
	$(PYTHON) -m venv build/audit-venv
	build/audit-venv/bin/python $(PIP) bandit pip-audit cyclonedx-bom build
	build/audit-venv/bin/bandit -q -c pyproject.toml -r discsum parsers cli data
	build/audit-venv/bin/python -m build --wheel --outdir dist
	$(PYTHON) -m venv build/installed-venv
	build/installed-venv/bin/python $(PIP) dist/*.whl
	build/audit-venv/bin/cyclonedx-py environment build/installed-venv --of JSON -o build/discsum.cdx.json
	build/audit-venv/bin/pip-audit --path $$(echo build/installed-venv/lib/python3*/site-packages) || \
		echo "pip-audit found a known fault, or could not reach its data: its lines above say which"

# The site of docs/, with the API from the docstrings, in build/docs; a warning is an error.
docs: $(VENV)/.installed-docs
	$(BIN)/python -m sphinx -b html -W --keep-going -q docs build/docs

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(BIN)/python $(PIP) torch
	$(BIN)/python $(PIP) -e .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(BIN)/python $(PIP) -e ".[dev]"
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python $(PIP) -e ".[docs]"
	touch $@

clean:
	rm -rf $(VENV) build dist docs/api *.egg-info
