# Everything a user or CI calls. `make` alone lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

JOBS ?= $(shell nproc)
# Most tests wait for processes, so twice as many run at a time as there are cores.
TEST_JOBS ?= $(shell echo $$((2 * $$(nproc))))
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 3600
BENCH ?=
PYTHON ?=
export PYTHON

# Lets build folders share what ccache holds.
export CCACHE_BASEDIR := $(CURDIR)

VENV := .venv/bin
STEP := scripts/step

.PHONY: help
help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: ## install missing system packages (packages.txt) and .venv (requirements.txt)
	@scripts/setup core

.PHONY: build
build: configure ## build/release and the Python package with the CLI .venv/bin/hyphos
	@$(STEP) "build release" cmake --build build/release -j $(JOBS)
	@scripts/link_python_package

.PHONY: configure
configure: setup
	@$(STEP) "configure release" cmake --preset release -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python

DEMO := out/patrol
DEMO_SECONDS ?= 30

.PHONY: demo
demo: configure ## a robot maps a building in three processes; leaves a map, a recording and a report
	@$(STEP) "build demo" cmake --build build/release -j $(JOBS) --target patrol
	@scripts/link_python_package
	@mkdir -p $(DEMO)
	@$(VENV)/hyphos run examples/patrol/three_processes.yaml --live --for $(DEMO_SECONDS) \
	  --set nodes.mapper.params.map_file=$(CURDIR)/$(DEMO)/map.png \
	  --record --set record.path=$(CURDIR)/$(DEMO)/patrol.mcap \
	  --report $(DEMO)/report.html --picture $(DEMO)/map.png
	@echo "map:       $(CURDIR)/$(DEMO)/map.png"
	@echo "recording: $(CURDIR)/$(DEMO)/patrol.mcap   (.venv/bin/hyphos replay $(DEMO)/patrol.mcap)"
	@echo "report:    $(CURDIR)/$(DEMO)/report.html"

.PHONY: test
test: build ## everything that must pass: C++, Python, examples, rooms, installed package, style
	@$(MAKE) style
	@$(STEP) -t "ctest" scripts/steady.py 8 \
	  ctest --test-dir build/release -j $(JOBS) --output-on-failure --no-tests=error -- \
	  ctest --test-dir build/release --rerun-failed --output-on-failure --no-tests=error
	@rm -rf build/pytest
	@$(STEP) -t "pytest" scripts/steady.py 1 $(VENV)/python -m pytest -o cache_dir=build/pytest -n $(TEST_JOBS) -- \
	  $(VENV)/python -m pytest -o cache_dir=build/pytest --last-failed --last-failed-no-failures=none

.PHONY: conformance
conformance: ## the gateways with real clients: roscpp, rospy, three DDS, roslibjs in Chromium, mono; none may be absent
	@scripts/setup core ros ros2 csharp browser
	@$(MAKE) build
	@scripts/conformance

# In both, packages come first: with Fast DDS there, the build has the gateway to ROS 2.
.PHONY: bench
bench: ## compare with the floors and the peers: three quarters of an hour; BENCH=--quick for a look
	@scripts/setup core bench
	@$(MAKE) build
	@$(STEP) "configure bench" cmake --preset bench -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python
	@$(STEP) "build bench" cmake --build build/bench -j $(JOBS) --target bench_all
	@$(VENV)/python bench/run.py --out build/bench/tables.md $(BENCH)

.PHONY: peers
peers: ## the middlewares that `hyphos lab` compares with, as far as they can be installed
	@scripts/setup core bench csharp
	@$(MAKE) build
	@$(STEP) "configure peers" cmake --preset bench -DPython_EXECUTABLE=$(CURDIR)/$(VENV)/python
	@$(STEP) "build peers" cmake --build build/bench -j $(JOBS) --target lab_peers

.PHONY: asan
asan: setup ## build with address and undefined-behaviour sanitizers and run the C++ tests
	@scripts/sanitized asan $(JOBS)

.PHONY: tsan
tsan: setup ## build with the thread sanitizer and run the C++ tests
	@scripts/sanitized tsan $(JOBS)

.PHONY: fuzz
fuzz: ## run every fuzzer for FUZZ_SECONDS (60) each
	@scripts/setup core fuzz
	@scripts/fuzz $(FUZZ_SECONDS) $(JOBS)

.PHONY: crash
crash: build ## kill and stop processes at random instants: full scale, minutes
	@$(STEP) -t "crash tests" ctest --test-dir build/release -C crash -L crash --output-on-failure --no-tests=error

.PHONY: soak
soak: build ## eight clients of the gateways for SOAK_SECONDS (an hour): nothing lost, no memory
	@PYTHONPATH=build/release/python $(VENV)/python tests/soak/soak.py $(SOAK_SECONDS)

.PHONY: style
style: setup ## formatting, ruff and mypy (part of `make test`)
	@$(STEP) "clang-format" bash -c "git -c safe.directory='*' ls-files -z -co --exclude-standard '*.cpp' '*.hpp' '*.h' | \
	  xargs -0 -r $(VENV)/clang-format --dry-run --Werror"
	@$(STEP) "ruff format" $(VENV)/ruff format --check --quiet --diff .
	@$(STEP) "ruff" $(VENV)/ruff check .
	@$(STEP) "mypy" $(VENV)/mypy

.PHONY: lint
lint: build style ## style plus clang-tidy over all of it: minutes
	@$(STEP) "clang-tidy" scripts/tidy $(JOBS)

.PHONY: format
format: setup ## rewrite the sources to the style
	@git -c safe.directory='*' ls-files -z -co --exclude-standard '*.cpp' '*.hpp' '*.h' | xargs -0 -r $(VENV)/clang-format -i
	@$(VENV)/ruff format --quiet . && $(VENV)/ruff check --fix-only --quiet .

.PHONY: clean
clean: ## remove what was built; .venv stays
	rm -rf build out
