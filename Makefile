# The commands for users and CI. `make` without a target lists them.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
# Most tests wait for processes, so run twice as many tests at once as there are cores.
TEST_JOBS ?= $(shell echo $$((2 * $$(nproc))))
FUZZ_SECONDS ?= 60
# The processors of the wheels: x86_64, aarch64 or both.
MACHINES ?= x86_64
ARM64 = $(if $(filter aarch64,$(MACHINES)),arm64)
SOAK_SECONDS ?= 3600
BENCH ?=
PYTHON ?=
export PYTHON

# Lets build folders share ccache results.
export CCACHE_BASEDIR := $(CURDIR)

VENV := .venv/bin
STEP := scripts/step

.PHONY: help
help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install the missing packages of all parts (packages.txt) and .venv (requirements.txt)
	@scripts/setup

.PHONY: build
build: configure ## build/release and the Python package with the CLI .venv/bin/hyphos
	@$(STEP) "build release" cmake --build build/release -j $(JOBS)
	@scripts/link_python_package
	@scripts/web --if-possible

.PHONY: configure
configure: setup
	@$(STEP) "configure release" cmake --preset release -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python

.PHONY: web
web: ## build the page of `hyphos view --serve` with npm, which `make build` does only if npm is there
	@scripts/setup web
	@scripts/web

DEMO := out/patrol
DEMO_SECONDS ?= 30
# A folder of a full build keeps its parts.
DEMO_PRESET = $(if $(shell grep -s 'HYPHOS_BUILD_GATEWAY:BOOL=ON' build/release/CMakeCache.txt),release,demo)

.PHONY: demo
demo: ## let a robot map a building in three processes, and save a map, a recording and a report
	@STEP="1 of 4" scripts/setup $(if $(filter demo,$(DEMO_PRESET)),demo,default)
	@STEP="2 of 4" $(STEP) "configure" cmake --preset $(DEMO_PRESET) -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python
	@STEP="3 of 4" $(STEP) "build" cmake --build build/release -j $(JOBS) --target patrol
	@scripts/link_python_package
	@echo "── [4 of 4] the robot drives for $(DEMO_SECONDS) s"
	@$(VENV)/hyphos demo --seconds $(DEMO_SECONDS) --out $(DEMO)

PREFIX ?= $(HOME)/hyphos

.PHONY: install
install: ## install the library, the Python package and the command into PREFIX (~/hyphos)
	@STEP="1 of 4" scripts/setup $(if $(filter demo,$(DEMO_PRESET)),demo,default)
	@STEP="2 of 4" $(STEP) "configure" cmake --preset $(DEMO_PRESET) -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python
	@STEP="3 of 4" $(STEP) "build" cmake --build build/release -j $(JOBS)
	@STEP="4 of 4" $(STEP) -t "install into $(PREFIX)" $(VENV)/python scripts/install "$(PREFIX)"

# A failed test makes `make test` fail. With RERUN_FAILED=1, which only CI sets, a test that failed
# while the machine stalled runs once more. At most two tests may. build/repeated_tests lists them.
RERUN_FAILED ?=
STEADY := scripts/steady.py $(if $(filter 1,$(RERUN_FAILED)),--rerun build/repeated_tests)

.PHONY: test
test: build ## run all tests: C++, Python, examples, rooms, installed package, style
	@$(MAKE) style
	@rm -rf build/pytest build/repeated_tests
	@$(STEP) -t "ctest" $(STEADY) 8 build/release/Testing/Temporary/LastTestsFailed.log \
	  ctest --test-dir build/release -j $(TEST_JOBS) --output-on-failure --no-tests=error \
	    --output-junit ctest.xml -- \
	  ctest --test-dir build/release --rerun-failed --output-on-failure --no-tests=error
	@scripts/skips.py build/release/ctest.xml
	@$(STEP) -t "pytest" $(STEADY) 1 build/pytest/v/cache/lastfailed $(VENV)/python -m pytest -o cache_dir=build/pytest -n $(TEST_JOBS) -- \
	  $(VENV)/python -m pytest -o cache_dir=build/pytest --last-failed --last-failed-no-failures=none
	@if [[ -s build/repeated_tests ]]; then echo "repeated after a stall:"; cat build/repeated_tests; fi

.PHONY: first-hour
first-hour: build ## go the way of a newcomer by README and tutorials alone, on two machines (namespaces)
	@scripts/first_hour

.PHONY: test-quick
test-quick: build ## check the style of changed files, and run the tests of all rooms but the slow ones
	@$(VENV)/python scripts/test_quick $(TEST_JOBS)

# Everything above the core is off, so [core] and [test] of packages.txt are enough.
.PHONY: core
core: ## build and test the core alone: no recorder, gateways, co-simulator, laboratory or Python
	@scripts/setup core test
	@$(STEP) "configure core" cmake --preset core
	@$(STEP) "build core" cmake --build build/core -j $(JOBS)
	@$(STEP) -t "ctest core" ctest --test-dir build/core -j $(JOBS) --output-on-failure --no-tests=error

.PHONY: core-check
core-check: ## prove that the core needs only [core] and [test]: build, test and install it in a root of these packages
	@scripts/setup core test
	@$(STEP) -t "core in its own root" scripts/core_only.py check $(JOBS)

.PHONY: conformance
conformance: ## test the gateways with real clients: roscpp, rospy, three DDS, roslibjs in Chromium, mono (all required)
	@scripts/setup default ros ros2 csharp browser
	@$(MAKE) build
	@scripts/conformance

# Both install packages first, because the build includes the ROS 2 gateway only if Fast DDS is present.
.PHONY: bench
bench: ## compare with lower bounds and baselines: 45 minutes, or less with BENCH=--quick
	@scripts/setup default bench
	@$(MAKE) build
	@$(STEP) "configure bench" cmake --preset bench -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python
	@$(STEP) "build bench" cmake --build build/bench -j $(JOBS) --target bench_all
	@$(VENV)/python bench/run.py --out build/bench/tables.md $(BENCH)

.PHONY: bench-gateway
bench-gateway: ## measure calls through the gateways, alone and beside an idle robot, two minutes
	@scripts/setup default bench
	@$(MAKE) build
	@$(STEP) "configure bench" cmake --preset bench -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python
	@$(STEP) "build bench" cmake --build build/bench -j $(JOBS) --target bench_gateway_calls
	@PYTHONPATH=build/release/python $(VENV)/python bench/gateway_calls.py --programs build/bench $(BENCH)

# Each other viewer is optional. rerun has an environment of its own.
.PHONY: bench-view
bench-view: ## compare the viewer with RViz and rerun on a virtual screen, half an hour. BENCH=--help
	@scripts/setup default bench bench_view
	@$(MAKE) build
	@$(STEP) "configure bench" cmake --preset bench -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python
	@$(STEP) "build bench" cmake --build build/bench -j $(JOBS) --target hyphos-view bench_view bench_view_robot
	@$(STEP) "rerun in build/bench/rerun" scripts/rerun_viewer build/bench/rerun || true
	@PYTHONPATH=build/release/python $(VENV)/python bench/view.py --programs build/bench --out build/bench/view.md $(BENCH)

.PHONY: peers
peers: ## build the baselines that `hyphos lab` compares with, as far as they can be installed
	@scripts/setup default bench csharp
	@$(MAKE) build
	@$(STEP) "configure peers" cmake --preset bench -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python
	@$(STEP) "build peers" cmake --build build/bench -j $(JOBS) --target lab_peers

# The targets dist and dist-check include both.
.PHONY: wheels
wheels: ## build the wheels of the last commit in dist, for MACHINES (x86_64): CPython 3.11 and newer
	@scripts/setup default wheels web $(ARM64)
	@packaging/wheels $(MACHINES:%=--machine %) --jobs $(JOBS)

.PHONY: wheels-check
wheels-check: ## install the wheels in dist in bare roots, run the demo, and build the wheels once more
	@scripts/setup default wheels web $(ARM64)
	@packaging/check_wheels $(MACHINES:%=--machine %) --again

.PHONY: asan
asan: setup ## build with address and undefined-behaviour sanitizers and run the C++ tests
	@scripts/sanitized asan $(JOBS)

.PHONY: tsan
tsan: setup ## build with the thread sanitizer and run the C++ tests
	@scripts/sanitized tsan $(JOBS)

.PHONY: fuzz
fuzz: ## run every fuzzer for FUZZ_SECONDS (60) each
	@scripts/setup default fuzz
	@scripts/fuzz $(FUZZ_SECONDS) $(JOBS)

.PHONY: crash
crash: build ## kill and stop processes at random instants, at full scale (minutes)
	@$(STEP) -t "crash tests" ctest --test-dir build/release -C crash -L crash --output-on-failure --no-tests=error

.PHONY: soak
soak: build ## run eight clients of the gateways for SOAK_SECONDS (an hour), check losses and memory
	@PYTHONPATH=build/release/python $(VENV)/python tests/soak/soak.py $(SOAK_SECONDS)

.PHONY: soak-view
soak-view: build ## show 5 million points for SOAK_SECONDS (an hour), check uploads, budget and memory
	@PYTHONPATH=build/release/python $(VENV)/python tests/soak/view_soak.py $(SOAK_SECONDS)

.PHONY: style
style: setup ## check formatting, ruff, mypy and prose (part of `make test`)
	@$(STEP) "clang-format" bash -c "git -c safe.directory='*' ls-files -z -co --exclude-standard '*.cpp' '*.hpp' '*.h' | \
	  xargs -0 -r $(VENV)/clang-format --dry-run --Werror"
	@$(STEP) "ruff format" $(VENV)/ruff format --check --quiet --diff .
	@$(STEP) "ruff" $(VENV)/ruff check .
	@$(STEP) "mypy" $(VENV)/mypy
	@$(STEP) "prose" scripts/prose

.PHONY: lint
lint: build style ## run style, and clang-tidy over all sources (minutes)
	@$(STEP) "clang-tidy" scripts/tidy $(JOBS)

.PHONY: format
format: setup ## reformat the sources
	@git -c safe.directory='*' ls-files -z -co --exclude-standard '*.cpp' '*.hpp' '*.h' | xargs -0 -r $(VENV)/clang-format -i
	@$(VENV)/ruff format --quiet . && $(VENV)/ruff check --fix-only --quiet .

.PHONY: docs
docs: ## build the documentation site build/docs/html, and check every link
	@scripts/setup python docs
	@$(STEP) -t "documentation" scripts/docs

.PHONY: dist
dist: ## build the packages into out/dist: Debian packages, wheels, source, bill of materials
	@scripts/setup default dist web
	@JOBS=$(JOBS) packaging/dist out/dist $(MACHINES)

.PHONY: dist-check
dist-check: dist ## install the packages of out/dist, each in a bare root, use them and remove them
	@$(STEP) -t "Debian packages in a bare root" packaging/check_debs
	@$(STEP) -t "wheels in bare roots" packaging/check_wheels $(MACHINES:%=--machine %) out/dist

.PHONY: dist-twice
dist-twice: ## prove that two builds of the Debian packages and the source have the same bits (two builds long)
	@scripts/setup default dist web
	@$(STEP) -t "the same bits twice" packaging/reproduce

.PHONY: clean
clean: ## remove build results, but keep .venv
	rm -rf build out
