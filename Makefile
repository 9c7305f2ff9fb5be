# Forebay: everything that a checkout can do. `make` alone lists the targets.
# Needs Python 3.11 or newer with its venv module, on Linux; no compiler, no database server.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && break; done)
PIP = .venv/bin/python -m pip --disable-pip-version-check --quiet

# How many processes run tests, each with a Postgres and a browser of its own.
WORKERS ?= 2

# As it was written, through the environment: a folder's name may hold quotes, $ and `.
override export PDFS := $(value PDFS)

.PHONY: help demo test test-long lint install-sql release-sql docs accuracy lock wheel clean
.DEFAULT_GOAL := help

help: # List the targets
	@sed -n 's/^\([a-z-]*\):[^#]*# \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: .venv/demo.stamp # Turn sample PDFs into results, or a folder's: make demo PDFS=~/folder; KEEP=1 stays up
	@.venv/bin/forebay demo $(if $(PDFS),--pdfs "$$PDFS") $(if $(KEEP),--keep-running)

test: .venv/dev.stamp # Run every test but the long ones; some: make test ARGS='tests/apps -k upload'
	@.venv/bin/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-long: .venv/dev.stamp # Run the long tests: the full matrix of races and the long model runs
	@.venv/bin/python -m pytest -m long --timeout 3600 -n $(WORKERS) --dist worksteal $(ARGS)

lint: .venv/dev.stamp # Check style, types and SQL; change nothing
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/sqlfluff lint --disable-progress-bar db tests/sql
	.venv/bin/squawk db/migrations/*.sql

install-sql: .venv/dev.stamp # Write db/install.sql anew, after any change to the SQL files
	@.venv/bin/forebay db install-script > db/install.sql

release-sql: .venv/dev.stamp # Keep this release's schema, for later releases to be upgraded from
	@mkdir -p tests/migrations/released
	@.venv/bin/forebay db plan --sql --from-empty \
	> tests/migrations/released/$$(.venv/bin/python -c 'import forebay; print(forebay.__version__)').sql

docs: # Write docs/functions.md anew, after any change to the SQL files
	@$(PYTHON) docs/build_functions.py

accuracy: .venv/dev.stamp # Write tables and examples of the docs anew, after any change to how PDFs are read
	@.venv/bin/python docs/build_examples.py
	@.venv/bin/python docs/build_accuracy.py

lock: # Write requirements.lock anew: today's versions of all that the extras need
	@$(PYTHON) -m venv --clear .venv/lock
	@.venv/lock/bin/python -m pip --disable-pip-version-check --quiet install '.[dev]'
	@{ echo '# The versions that Forebay is tested with: pip install -c requirements.lock .'; \
	.venv/lock/bin/python -m pip freeze | grep '==' | grep -v '^forebay=='; } > requirements.lock
	@rm -rf .venv/lock
	@echo "requirements.lock names $$(grep -c '==' requirements.lock) packages"

wheel: .venv/dev.stamp # Build the wheel, with the SQL in it, in dist/
	@.venv/bin/python -m build --wheel

clean: # Remove what make has made: the virtual environment, builds and caches
	rm -rf .venv dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# What is installed, and with which extras: made again when the packages' list changes.
.venv/demo.stamp: pyproject.toml requirements.lock | .venv/bin/pip
	@echo 'Installing Forebay into .venv'
	@$(PIP) install -c requirements.lock -e '.[cli,embedded,agents,apps,lab]'
	@touch $@

.venv/dev.stamp: pyproject.toml requirements.lock | .venv/bin/pip
	@echo 'Installing Forebay and its development tools into .venv'
	@$(PIP) install -c requirements.lock -e '.[dev]'
	@touch .venv/demo.stamp $@

.venv/bin/pip:
	@test -n "$(PYTHON)" || { echo 'Forebay needs Python 3.11 or newer: install it, or name it with make PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo "$(PYTHON) has no venv module: install it, on Debian with 'apt-get install python3-venv'." >&2; exit 1; }
	@$(PYTHON) -m venv .venv
