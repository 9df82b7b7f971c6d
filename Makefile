# The front door: every target installs the packages it misses, configures and builds what it needs.
# CMake does the work (CMakePresets.json); this file only names the habits.

JOBS ?= $(shell nproc)
PRESET ?= release
ISOBAR := build/$(PRESET)/bin/isobar
CCACHE := $(shell command -v ccache 2>/dev/null)
# Or ccache leaves alone what uses precompiled headers.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

configure = cmake --preset $(1) -DCMAKE_CXX_COMPILER_LAUNCHER=$(CCACHE)
build = $(call configure,$(1)) && cmake --build --preset $(1) -j $(JOBS)
sources = find isobar tests examples -name '*.[ch]pp'

.DEFAULT_GOAL := help
# Broken files for $(3) seconds to the fuzzer $(1), which begins with those in $(2); what is found lies in build/fuzz.
# The seed is fixed, so that a test is a test.
fuzz_one = rm -rf build/fuzz/found && mkdir -p build/fuzz/found && build/fuzz/tests/fuzz/$(1) -seed=1 \
  -max_total_time=$(3) -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/ \
  build/fuzz/found tests/fuzz/$(2)
fuzz = $(call fuzz_one,fuzz_onnx_import,onnx_corpus,$(1)) && $(call fuzz_one,fuzz_checkpoint,checkpoint_corpus,$(1))
FUZZ_SECONDS ?= 600
MUTATIONS ?= 10000
KILLS ?= 100

.PHONY: help demo test bench hosts format build packages browser program fuzzer fuzz mutate soak asan tsan tidy clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

demo: program ## Make a small universe, train CosmoFlow on it (about 3 minutes), show what it learned
	$(ISOBAR) demo

test: build fuzzer browser ## Build everything and run all tests, then fuzz the readers of ONNX files and checkpoints for a minute each
	ctest --preset $(PRESET) -j 2
	$(call fuzz,60)

# BENCH: which levels, and options; BENCH="networks --seconds 20" takes a quarter of an hour.
bench: program ## Measure operators, networks and training beside the best peers (about an hour; BENCH= chooses levels)
	tools/install_packages bench
	$(ISOBAR) bench $(BENCH) --record runs/bench/rows.jsonl --html runs/bench/page.html

hosts: program ## Measure sums, training and forecasts of it between emulated hosts behind slow links (needs root)
	bench/hosts/measure.py --program $(ISOBAR)
	bench/hosts/forecast.py --program $(ISOBAR) --simulator $(ISOBAR)-sim

format: ## Bring the sources into the house style
	tools/install_packages format
	$(sources) -print0 | xargs -0 clang-format -i

build: packages ## Build the program, the libraries and the tests
	$(call build,$(PRESET))

packages: ## Install the Debian packages the build needs, if they are missing
	tools/install_packages build

# What the tests need and the program does not.
browser:
	tools/install_packages test

# Only the program: the way to the demo does not lead through the tests.
program: packages
	$(call build,$(PRESET)) --target isobar isobar_simulator

fuzz: fuzzer ## Feed the readers of ONNX files and checkpoints broken ones for FUZZ_SECONDS (default 600) each
	$(call fuzz,$(FUZZ_SECONDS))

fuzzer: packages
	tools/install_packages fuzz
	$(call configure,fuzz) && cmake --build --preset fuzz -j $(JOBS) --target fuzz_onnx_import fuzz_checkpoint

mutate: packages ## Read MUTATIONS (default 10000) broken files of every format, under the address sanitizer
	$(call configure,asan) && cmake --build --preset asan -j $(JOBS) --target test_data
	ASAN_OPTIONS=allocator_may_return_null=1:max_allocation_size_mb=256 ISOBAR_MUTATIONS=$(MUTATIONS) \
	  build/asan/test_data --gtest_filter='*MutatedFiles*'

soak: program ## Kill, stop, freeze and starve runs at random moments (KILLS of each kind, default 100; about an hour)
	tools/install_packages soak
	$(call build,$(PRESET)) --target isobar-openmpi
	tests/soak/soak.py --program $(ISOBAR) --kills $(KILLS) $(SOAK)

asan: packages browser ## Run all tests under the address and undefined-behaviour sanitizers
	$(call build,asan)
	ctest --preset asan -j 2

tsan: packages browser ## Run the threaded tests under the thread sanitizer
	$(call build,tsan)
	ctest --preset tsan -j 2

tidy: packages ## Look through the sources with clang-tidy
	tools/install_packages tidy
	$(call configure,dev)
	run-clang-tidy-16 -quiet -j $(JOBS) -p build/dev -extra-arg=-Wno-unknown-warning-option \
	  -extra-arg=-idirafter$$(g++ -print-file-name=include) '/isobar/[a-z_]+/\w+\.cpp$$'

clean: ## Remove what was built
	rm -rf build
