# make test     set up, then the regression: at most 15 minutes on two cores
# make report   set up, then the main job: measure what is missing, and write modexlab-report.html
# make regress  set up, then the long regression: wide machines, long exponents, ten times the examples
# make setup    a virtual environment in .venv with pinned packages, and Debian packages when root
# make format   let ruff format the sources
# make clean    remove what make made; the cache of builds too

VENV     := .venv
BIN      := $(VENV)/bin
READY    := $(VENV)/ready
JOBS     ?= 2
TOOLS    := g++:g++ riscv64-unknown-elf-gcc:gcc-riscv64-unknown-elf sta:opensta
EXTRAS   := qemu-riscv32:qemu-user chromium:chromium
COVERAGE := --cov=fl --cov=rtl --cov=cl --cov=proc --cov=eval --cov-branch --cov-report=term:skip-covered
PYTEST   := $(BIN)/python -m pytest -n $(JOBS)

.PHONY: test report regress setup format lint clean

test: setup lint
	$(PYTEST) -m "not regress" $(COVERAGE)

report: setup
	@$(BIN)/modexlab report

regress: setup lint
	MODEXLAB_EXAMPLES_FACTOR=10 $(PYTEST) $(COVERAGE)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

setup: $(READY)

# A tool is missing: install it as root, else say which command does. A Python in range is looked for, newest first.
$(READY): requirements.txt setup.py pyproject.toml Makefile .ci/setup
	@./.ci/setup "$(VENV)" "$(TOOLS)" "$(EXTRAS)"
	@touch $@

clean:
	-[ -x $(BIN)/modexlab ] && $(BIN)/python -c "from modexlab.rtl.sim.cache import clear; clear()"
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .coverage *.egg-info
