# Two commands do everything: `make demo` (set up, run the main job) and `make test` (set up, run all tests).
# Both build a virtual environment in .venv inside this folder; no compiler is needed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := parquet,ros,sweep,notebook,docs,xacro,xlsx,fmu,studio,widget
comma := ,
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: help demo test check docs format clean browser smoke-min smoke-new smoke-wheel fuzz mutate soak

help:
	@echo "make demo    set up .venv and run 'armdyn study scara5': writes out/scara5/report.html"
	@echo "make test    set up .venv with the test tools and run all tests"
	@echo "make check   ruff (lint and format) and mypy"
	@echo "make docs    build the documentation: out/docs/index.html"
	@echo "make format  format the code"
	@echo "make browser drive every panel of the studio in Chromium, if that is installed"
	@echo "make smoke-min, smoke-new, smoke-wheel   the main jobs with the oldest and newest dependencies, and from a wheel"
	@echo "make fuzz, mutate, soak                  long tests: hostile files (N=100000), mutated source, hours of work"
	@echo "make clean   remove .venv and caches"

$(BIN)/python:
	@echo "Setting up a virtual environment in $(VENV) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "armdyn needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "The venv module is missing (on Debian: apt-get install python3-venv)."; exit 1; }

$(VENV)/.core: pyproject.toml | $(BIN)/python
	@echo "Installing armdyn and what it needs ..."
	@$(PIP) install --editable . && touch $@

# All at once, because each call of pip builds and resolves anew; one by one where something is not available.
$(VENV)/.test: pyproject.toml | $(BIN)/python
	@echo "Installing armdyn, the test tools, independent engines to compare with (Pinocchio, MuJoCo) and extras ..."
	@$(PIP) install --editable '.[test,check,engines,$(EXTRAS)]' && touch $(VENV)/.core $(VENV)/.docs || $(MAKE) $(VENV)/.one-by-one
	@touch $@

$(VENV)/.one-by-one: | $(VENV)/.core
	@echo "Installing the test tools ..."
	@$(PIP) install --editable '.[test,check]'
	@for extra in engines $(subst $(comma), ,$(EXTRAS)); do \
	  $(PIP) install --editable ".[$$extra]" || echo "Not available here: tests that need $$extra will be skipped and say so."; done

$(VENV)/.docs: pyproject.toml | $(VENV)/.core
	@echo "Installing what the documentation needs ..."
	@$(PIP) install --editable '.[docs]' && touch $@

demo: $(VENV)/.core
	@$(BIN)/armdyn study scara5 --out out/scara5 --force

test: $(VENV)/.test  # a file stays with one worker: its fixtures are made once; short files come last
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses=2 --dist=loadfile --no-loadscope-reorder

check: $(VENV)/.test
	@$(BIN)/ruff check src tests examples tools docs/.hooks
	@$(BIN)/ruff format --check src tests examples tools docs/.hooks
	@$(BIN)/mypy

docs: $(VENV)/.docs
	@$(BIN)/mkdocs build --strict --quiet && echo "Wrote out/docs/index.html"

format: $(VENV)/.test
	@$(BIN)/ruff check --fix src tests examples tools docs/.hooks
	@$(BIN)/ruff format src tests examples tools docs/.hooks

# Long tests and other environments ------------------------------------------------------------------------------------

SMOKE := -m pytest --import-mode=importlib -p no:cacheprovider -q tests/smoke
WHEEL := $(CURDIR)/out/wheel
N ?= 100000

smoke-min:
	@$(PYTHON) -m venv --clear $(VENV)-min
	@$(VENV)-min/bin/python -m pip --disable-pip-version-check --quiet install --no-compile $$($(PYTHON) tools/minima.py) . pytest hypothesis
	@$(VENV)-min/bin/python $(SMOKE) -W ignore::DeprecationWarning  # old packages with a newer one between them

smoke-new:
	@$(PYTHON) -m venv --clear $(VENV)-new
	@$(VENV)-new/bin/python -m pip --disable-pip-version-check --quiet install --no-compile --upgrade . pytest hypothesis
	@$(VENV)-new/bin/python $(SMOKE)

smoke-wheel: $(VENV)/.core
	@rm -rf $(WHEEL) && $(PIP) install pytest hypothesis
	@$(PIP) wheel --no-deps --wheel-dir $(WHEEL) .
	@$(PIP) install --no-deps --no-compile --target $(WHEEL)/site $(WHEEL)/armdyn-*.whl
	@PYTHONPATH=$(WHEEL)/site $(BIN)/python -c 'import armdyn; assert armdyn.__file__.startswith("$(WHEEL)"), armdyn.__file__'
	@PYTHONPATH=$(WHEEL)/site $(BIN)/python $(SMOKE)

browser: $(VENV)/.test
	@$(PIP) install --editable '.[browser]'
	@$(BIN)/python -m pytest -n0 -rs -s tests/browser

fuzz: $(VENV)/.test
	@OPENBLAS_NUM_THREADS=1 ARMDYN_FUZZ=$$(($(N) * 2 / 5)) $(BIN)/python -m pytest -n0 -s -k muta \
	  tests/formats/test_fuzz.py tests/formats/test_meshes.py tests/identification/test_log_fuzz.py tests/files/test_reader_fuzz.py

mutate: $(VENV)/.test
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/mutate.py mechanics parameters kernels

soak: $(VENV)/.test
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python tools/soak.py

clean:
	rm -rf $(VENV) $(VENV)-min $(VENV)-new .pytest_cache .mypy_cache .ruff_cache .hypothesis out
