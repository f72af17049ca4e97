# Two commands do everything on a fresh Debian 12 machine:
#     make run      install what is missing, build, start the server with the demo model on 127.0.0.1:8080
#     make test     build and run all tests
# More: make build, bench, format, lint, clean.

BUILD ?= build
JOBS ?= $(shell nproc)
CMAKE_FLAGS ?=
RUN_FLAGS ?=
export CCACHE_SLOPPINESS ?= include_file_mtime,time_macros

.PHONY: run build test bench format lint clean setup

run: build
	$(BUILD)/bin/cairn serve -m models/demo.gguf $(RUN_FLAGS)

setup:
	@tools/setup

build: setup
	@cmake -S . -B $(BUILD) -G Ninja $(CMAKE_FLAGS) >$(BUILD).configure.log 2>&1 || { cat $(BUILD).configure.log; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS) --target cairn

test:
	@tools/setup --test
	@tools/check-tree
	@$(MAKE) --no-print-directory build CMAKE_FLAGS="$(CMAKE_FLAGS) -DCAIRN_WERROR=ON"
	@cmake --build $(BUILD) -j $(JOBS) --target check_binaries
	cd $(BUILD) && ctest --output-on-failure --no-tests=error

clean:
	rm -rf $(BUILD) $(BUILD).configure.log
