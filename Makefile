# The usual commands: every target installs missing packages, configures and builds what it needs.
# CMake does the work (CMakePresets.json).

JOBS ?= $(shell nproc)
PRESET ?= release
ISOBAR := build/$(PRESET)/bin/isobar
CCACHE := $(shell command -v ccache 2>/dev/null)
# Debian's, even if another one comes first on the path.
CMAKE := $(or $(wildcard /usr/bin/cmake),cmake)
export CTEST := $(or $(wildcard /usr/bin/ctest),ctest)
# Without this ccache does not cache sources that use precompiled headers.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

configure = $(CMAKE) --preset $(1) -DCMAKE_CXX_COMPILER_LAUNCHER=$(CCACHE)
build = $(call configure,$(1)) && $(CMAKE) --build --preset $(1) -j $(JOBS)
sources = find isobar tests examples -name '*.[ch]pp'

.DEFAULT_GOAL := help
# Runs the fuzzer $(1) for $(3) seconds on broken files, beginning with those in $(2); findings are in build/fuzz.
# The seed is fixed, so that runs can be repeated.
fuzz_one = rm -rf build/fuzz/found && mkdir -p build/fuzz/found && build/fuzz/tests/fuzz/$(1) -seed=1 \
  -max_total_time=$(3) -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/ \
  build/fuzz/found tests/fuzz/$(2)
fuzz = $(call fuzz_one,fuzz_onnx_import,onnx_corpus,$(1)) && $(call fuzz_one,fuzz_checkpoint,checkpoint_corpus,$(1))
FUZZ_SECONDS ?= 600
MUTATIONS ?= 10000
KILLS ?= 100
TIMES ?= 10
ISOBAR_ORACLE_PYTHON ?= /usr/bin/python3

.PHONY: help demo test check headers repeat bench hosts format build packages testing program simulator parts fuzzer fuzz mutate soak asan tsan tidy golden clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

demo: program ## Make a small universe, train CosmoFlow on it (about 3 minutes), show what it learned
	$(ISOBAR) demo

test: build ## Build everything, run all tests, and say which were skipped and why
	tools/run_tests --preset $(PRESET) -j $(JOBS)

check: ## All that must pass: tests, headers alone, missing parts, sanitizers, broken files, fuzzers (about 40 minutes)
	$(MAKE) test
	$(MAKE) headers
	$(MAKE) parts
	$(MAKE) asan
	$(MAKE) mutate MUTATIONS=1000
	$(MAKE) tsan
	$(MAKE) fuzz FUZZ_SECONDS=60

headers: testing ## Compile every header alone
	$(call build,$(PRESET)) --target headers

# BUSY=1 keeps all cores busy with other work meanwhile, BUSY=alternate only in every second run.
repeat: build ## Run all tests TIMES times (default 10) and list every test that failed even once (BUSY=1: on busy cores)
	tools/repeat_tests --preset $(PRESET) --times $(TIMES) \
	  --busy $(if $(BUSY),$(if $(filter alternate,$(BUSY)),alternate,all),none) -- -j $(JOBS)

# BENCH: which levels, and options; BENCH="networks --seconds 20" takes a quarter of an hour.
bench: program ## Measure operators, networks and training beside the best peers (about an hour; BENCH= chooses levels)
	@tools/install_packages bench
	$(ISOBAR) bench $(BENCH) --record runs/bench/rows.jsonl --html runs/bench/page.html

hosts: simulator ## Measure sums, training and forecasts of it between emulated hosts behind slow links (needs root)
	bench/hosts/measure.py --program $(ISOBAR)
	bench/hosts/forecast.py --program $(ISOBAR) --simulator $(ISOBAR)-sim

format: ## Bring the sources into the house style
	@tools/install_packages format
	$(sources) -print0 | xargs -0 clang-format -i

build: testing ## Build the programs, the libraries and the tests
	$(call build,$(PRESET))

packages: ## Install the Debian packages the program needs, if they are missing
	@tools/install_packages build mpi

# Packages for all programs and the tests: both MPIs, SimGrid, a browser.
testing:
	@tools/install_packages build mpi openmpi simulator test

# Only the program: the demo needs neither the tests, the simulator nor a second MPI.
program: packages
	$(call build,$(PRESET)) --target isobar

simulator:
	@tools/install_packages build mpi simulator
	$(call build,$(PRESET)) --target isobar isobar_simulator

parts: testing ## Try builds in which parts are missing: one MPI, a site's, or none; no SimGrid, NetCDF, LMDB, ONNX, FFTW
	$(call configure,$(PRESET))
	tools/run_tests --preset $(PRESET) -L parts -C parts

fuzz: fuzzer ## Feed the readers of ONNX files and checkpoints broken ones for FUZZ_SECONDS (default 600) each
	$(call fuzz,$(FUZZ_SECONDS))

fuzzer: packages
	@tools/install_packages fuzz
	$(call configure,fuzz) && $(CMAKE) --build --preset fuzz -j $(JOBS) --target fuzz_onnx_import fuzz_checkpoint

mutate: testing ## Read MUTATIONS (default 10000) broken files of every format, under the address sanitizer
	$(call configure,asan) && $(CMAKE) --build --preset asan -j $(JOBS) --target test_datasets
	ISOBAR_MUTATIONS=$(MUTATIONS) build/asan/test_datasets --gtest_filter='*MutatedFiles*'

soak: packages ## Kill, stop, freeze and starve runs at random moments (KILLS of each kind, default 100; about an hour)
	@tools/install_packages openmpi soak
	$(call build,$(PRESET)) --target isobar isobar_openmpi
	tests/soak/soak.py --program $(ISOBAR) --kills $(KILLS) $(SOAK)

asan: testing ## Run tests of what reads files or has threads under the address and undefined-behaviour sanitizers
	$(call build,asan)
	tools/run_tests --preset asan -j $(JOBS)

tsan: testing ## Run tests of what has threads under the thread sanitizer
	$(call build,tsan)
	tools/run_tests --preset tsan -j $(JOBS)

tidy: testing ## Check the sources with clang-tidy
	@tools/install_packages tidy
	$(call configure,dev)
	run-clang-tidy-16 -quiet -j $(JOBS) -p build/dev -extra-arg=-Wno-unknown-warning-option \
	  -extra-arg=-idirafter$$(g++ -print-file-name=include) '/isobar/[a-z_]+/\w+\.cpp$$'

# ISOBAR_ORACLE_PYTHON: a Python with PyTorch and onnx, for example of a virtual environment; by default Debian's.
golden: packages ## Ask PyTorch for the losses and gradients the tests compare with (ONLY="lenet conv": only of these)
	test "$(ISOBAR_ORACLE_PYTHON)" != /usr/bin/python3 || tools/install_packages bench
	$(call build,$(PRESET)) --target oracle_cases
	$(ISOBAR_ORACLE_PYTHON) -B tests/onnx/oracle/make_golden.py --program build/$(PRESET)/oracle_cases \
	  $(if $(ONLY),--only $(ONLY))

clean: ## Remove what was built
	rm -rf build
