# SPDX-License-Identifier: Apache-2.0
# A thin front for CMake; the presets say what each build folder is.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD = build/release
FUZZ_SECONDS ?= 60

.PHONY: all demo check bench fuzz install format tidy clean help

all: ## build the program and the libraries in build/release
	@tools/bootstrap build
	@tools/configure release -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@cmake --build $(BUILD)

demo: all ## prove and verify an example circuit
	@tools/demo $(BUILD)

check: ## every test and check (under 6 minutes on 2 cores)
	@tools/check

bench: all ## time the kernels and one proof
	@tools/bench $(BUILD)

fuzz: ## search for failing inputs, FUZZ_SECONDS=60 for each target
	@tools/bootstrap fuzz
	@tools/fuzz $(FUZZ_SECONDS)

install: all ## install under PREFIX=/usr/local (DESTDIR is honoured)
	@DESTDIR=$(DESTDIR) cmake --install $(BUILD)

format: ## lay out all C sources (clang-format 14)
	@tools/source_files | xargs clang-format -i

tidy: ## look for suspicious code (clang-tidy)
	@tools/tidy

clean: ## remove everything that was built
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 18
