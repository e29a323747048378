# `make` or `make run` starts the app; `make help` lists the rest.

# The first Python on the path that is new enough and can make a virtual
# environment. Another one: make run PYTHON=/path/to/python3
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	$$p -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& echo $$p && break; done)
VENV ?= .venv
# The build of PyTorch: the one for CUDA is ten times as large, and of no use without a GPU. On other
# systems than Linux, PyPI has but one.
GPU := $(wildcard /proc/driver/nvidia /usr/lib/wsl/lib/libcuda.so.1)
TORCH ?= $(if $(filter Linux,$(shell uname -s)),$(if $(GPU),cuda,cpu),cuda)
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed-$(TORCH)
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --require-hashes
# The tree of links on which import-linter sees headlight's packages, as the wheel has them.
LINT := $(VENV)/lint
# Where builds of PyTorch for the CPU alone are, besides where pip looks by itself.
CPU_BUILDS := https://download.pytorch.org/whl/cpu/torch/
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-annotate --custom-compile-command "make lock"

.DEFAULT_GOAL := run
.PHONY: run share serve test test-all browsers wings lint format browser docs site wheel lock sbom clean help

run: $(INSTALLED) ## start the app for this machine only and open it in the browser
	$(BIN)/python -m headlight $(ARGS)

share: $(INSTALLED) ## start it for others too, who need the link or QR code that it shows
	$(BIN)/python -m headlight --share $(ARGS)

serve: $(INSTALLED) ## share it by as many processes as there are cores, or by WORKERS=2
	$(BIN)/python -m headlight --workers $(WORKERS) $(ARGS)

# Tests that run side by side: half of a browser test's time is waiting, a model's never waits.
test test-all: WORKERS ?= $(if $(filter tests/model%,$(ARGS)),2,3)
PYTEST = $(BIN)/python -m pytest --timeout 600 --numprocesses $(WORKERS) --dist worksteal --durations 20
test: lint browser ## run the checks that suffice before a commit; ARGS="tests/model" runs some
	$(PYTEST) -m "not matrix" $(ARGS)

test-all: browser ## run the rest: every model, size and theme, and rarer paths
	$(PYTEST) -m matrix $(ARGS)

# A file's tests share a window of each browser, and the talk that it saves.
browsers: $(VENV)/.installed-dev ## try every page and the talks in Firefox and WebKit too
	$(BIN)/python -m tests.browsers.install
	$(BIN)/python -m pytest --timeout 600 --numprocesses 2 --dist loadfile --durations 20 \
		tests/browsers $(wildcard tests/wings/*/browsers)

wings: browser ## leave out each wing in turn, and try the app without it; ARGS="cause" tries some
	$(BIN)/python -m tests.wings.left_out $(ARGS)

lint: $(VENV)/.installed-dev ## check the formatting, the code, its types and who imports whom
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m ruff check .
	$(BIN)/basedpyright
	mkdir -p $(LINT)/headlight
	ln -sfn $(addprefix $(CURDIR)/, model viz pages wings) $(LINT)/headlight
	ln -sfn $(CURDIR)/recipe $(LINT)
	cd $(LINT) && $(abspath $(BIN))/lint-imports --no-cache --no-logo --config $(CURDIR)/pyproject.toml
	$(BIN)/oxlint viz pages wings

format: $(VENV)/.installed-dev ## format the code and fix what ruff can fix
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

browser: $(VENV)/.installed-dev ## find or install the Chromium of the browser tests
	$(BIN)/python -m tests.browser.install

docs: browser ## make the pictures, the notebook and the listings of docs/ anew
	$(BIN)/python -m docs.listings
	$(BIN)/jupytext --quiet --to ipynb docs/notebook.py
	$(BIN)/python -m docs.pictures

site: browser ## write a gallery that needs no server into site/
	$(BIN)/python -m docs.site site

wheel: $(VENV)/.installed-dev ## build the package into dist/
	$(BIN)/python -m pip wheel --no-deps --no-build-isolation --wheel-dir dist .

lock: $(VENV)/.installed-dev ## write anew, with hashes, what the requirements take, to locks/
	echo torch > $(VENV)/torch.txt
	$(LOCK) requirements.txt --excludes $(VENV)/torch.txt --output-file locks/app.txt
	sed -n 's/^torch==[0-9.]*/&/p' requirements.txt \
		| $(LOCK) - --constraints locks/app.txt --output-file locks/cuda.txt
	sed -n "s/^torch==[0-9.]*/&+cpu; sys_platform == 'linux'/p" requirements.txt \
		| $(LOCK) - --constraints locks/app.txt --find-links $(CPU_BUILDS) --output-file locks/cpu.txt
	$(LOCK) requirements-corpus.txt --constraints locks/app.txt --output-file locks/corpus.txt
	$(LOCK) requirements-dev.txt --constraints locks/app.txt --output-file locks/dev.txt
	$(LOCK) requirements-alone.txt --no-deps --output-file locks/alone.txt

sbom: $(VENV)/.installed-dev ## list what the app is made of, as CycloneDX, in sbom.json
	cat locks/app.txt locks/$(TORCH).txt | $(BIN)/cyclonedx-py requirements --output-file sbom.json -

clean: ## remove the virtual environment and the caches
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis test-results sbom.json
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## list these targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' Makefile | expand -t 16

# Each stamp is as old as the last installation, so that pip runs again only when what is locked has
# changed since.
$(INSTALLED): locks/app.txt locks/$(TORCH).txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Headlight needs Python 3.11 or newer with its venv module; name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	$(INSTALL) --requirement locks/app.txt
	$(INSTALL) --requirement locks/$(TORCH).txt $(if $(filter cpu,$(TORCH)),--find-links $(CPU_BUILDS) --retries 2)
	@touch $@

$(VENV)/.installed-dev: locks/dev.txt locks/alone.txt $(INSTALLED)
	$(INSTALL) --quiet --requirement locks/dev.txt
	$(INSTALL) --quiet --no-deps --requirement locks/alone.txt
	@touch $@
