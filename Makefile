# The front door: every target installs the packages it misses, configures and builds what it needs.
# CMake does the work (CMakePresets.json); this file only names the habits.

JOBS ?= $(shell nproc)
PRESET ?= release
ISOBAR := build/$(PRESET)/bin/isobar
CCACHE := $(shell command -v ccache 2>/dev/null)

configure = cmake --preset $(1) -DCMAKE_CXX_COMPILER_LAUNCHER=$(CCACHE)
build = $(call configure,$(1)) && cmake --build --preset $(1) -j $(JOBS)
sources = find isobar tests examples -name '*.[ch]pp'

.DEFAULT_GOAL := help
.PHONY: help demo test bench format build packages program asan tsan tidy clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-10s %s\n", $$1, $$2 }' Makefile

demo: program ## Make a small universe, train CosmoFlow on it (about 3 minutes), show what it learned
	$(ISOBAR) demo

test: build ## Build everything and run all tests
	ctest --preset $(PRESET) -j 2

bench: program ## Measure a training step, side by side with PyTorch
	tools/install_packages bench
	$(ISOBAR) bench

format: ## Bring the sources into the house style
	tools/install_packages format
	$(sources) -print0 | xargs -0 clang-format -i

build: packages ## Build the program, the libraries and the tests
	$(call build,$(PRESET))

packages: ## Install the Debian packages the build needs, if they are missing
	tools/install_packages build

# Only the program: the way to the demo does not lead through the tests.
program: packages
	$(call build,$(PRESET)) --target isobar

asan: packages ## Run all tests under the address and undefined-behaviour sanitizers
	$(call build,asan)
	ctest --preset asan -j 2

tsan: packages ## Run the threaded tests under the thread sanitizer
	$(call build,tsan)
	ctest --preset tsan -j 2

tidy: packages ## Look through the sources with clang-tidy
	tools/install_packages tidy
	$(call configure,dev)
	run-clang-tidy-16 -quiet -j $(JOBS) -p build/dev -extra-arg=-Wno-unknown-warning-option \
	  -extra-arg=-idirafter$$(g++ -print-file-name=include) '/isobar/[a-z_]+/\w+\.cpp$$'

clean: ## Remove what was built
	rm -rf build
