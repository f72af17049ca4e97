# Two commands do everything on a fresh Debian 12 machine:
#     make run      install what is missing, build, start the server with the demo model on 127.0.0.1:8080
#     make test     build and run all tests
# More:
#     make build    the program alone, build/bin/cairn       RUN_FLAGS="..." flags for `cairn serve` of make run
#     make install  the program and the library, below PREFIX=/usr/local
#     make bench    quick benches: bench-state, bench-plain, bench-index, bench-micro (bench/README.md)
#     make bench-quick     cairn against llama-server, one short round with the demo model
#     make bench-compare   the same with larger models: hours; COMPARE_FLAGS="..." flags of bench/compare
#     make bench-gates     holds that comparison and the other benches against bench/gates.json
#     make soak     a mix of everything for SOAK_SECONDS=300; kill -9 under traffic, SOAK_ROUNDS=200 times; and
#                   SOAK_MUTATIONS=10000 damaged cache directories
#     make tsan     all that runs on the simulated backend, and the server, under ThreadSanitizer
#     make fuzz     the wire formats under libFuzzer, FUZZ_SECONDS=60 (needs clang)
#     make format   clang-format on our sources
#     make clean

BUILD ?= build
JOBS ?= $(shell nproc)
CMAKE_FLAGS ?=
RUN_FLAGS ?=
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
SOAK_SECONDS ?= 300
SOAK_ROUNDS ?= 200
TRACES ?= traces
WORKLOAD ?= agents
SOAK_MUTATIONS ?= 10000
COMPARE_FLAGS ?=
# Compiler results are shared between clones in different folders.
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
export CCACHE_SLOPPINESS ?= include_file_mtime,time_macros

configure = mkdir -p $(1) && cmake -S . -B $(1) -G Ninja $(2) >$(1)/configure.log 2>&1 || { cat $(1)/configure.log; exit 1; }

.PHONY: run build install test bench bench-model bench-state bench-plain bench-index bench-micro bench-quick bench-compare bench-gates bench-disk soak tsan fuzz format clean

run: build
	$(BUILD)/bin/cairn serve -m models/demo.gguf $(RUN_FLAGS)

build:
	@tools/setup
	@$(call configure,$(BUILD),$(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target cairn

install: build
	cmake --install $(BUILD) --prefix $(PREFIX)

test:
	@tools/setup --test
	@tools/check-tree
	@$(call configure,$(BUILD),-DCAIRN_TESTS=ON -DCAIRN_WERROR=ON $(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target cairn check_binaries
	cd $(BUILD) && ctest -j $(JOBS) --output-on-failure --no-tests=error

bench: bench-index bench-state bench-plain bench-micro

bench-model:
	@tools/setup --test
	@$(call configure,$(BUILD),-DCAIRN_TESTS=ON $(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target bench_model

bench-state: bench-model
	@cmake --build $(BUILD) -j $(JOBS) --target state_bench
	CAIRN_BENCH_MODEL=$(BUILD)/bench/qwen35-0.8b.gguf $(BUILD)/bin/state_bench

bench-plain: bench-model
	@cmake --build $(BUILD) -j $(JOBS) --target plain llama-bench
	bench/plain.py --bin $(BUILD)/bin --model $(BUILD)/bench/qwen35-0.8b.gguf

bench-micro:
	@tools/setup --test
	@$(call configure,$(BUILD),-DCAIRN_TESTS=ON $(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target scheduler_bench stream_bench chat_template_bench
	for bench in scheduler stream chat_template; do $(BUILD)/bin/$${bench}_bench || exit 1; done

bench-quick:
	@tools/setup --test
	@$(call configure,$(BUILD),-DCAIRN_TESTS=ON $(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target cairn llama-server
	bench/compare --bin $(BUILD)/bin --out $(BUILD)/bench/quick --quick

bench-compare: bench-model
	@cmake --build $(BUILD) -j $(JOBS) --target cairn llama-server
	bench/compare --bin $(BUILD)/bin --model-dir $(BUILD)/bench --out $(BUILD)/bench/compare $(COMPARE_FLAGS)

bench-gates:
	@tools/setup --bench
	@$(call configure,$(BUILD),-DCAIRN_TESTS=ON $(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target bench_model state_bench index_bench hot_paths
	bench/gates --bin $(BUILD)/bin --model $(BUILD)/bench/qwen35-0.8b.gguf --compare $(BUILD)/bench/compare/compare.json

# TRACES: a folder with request traces, WORKLOAD: one of bench/replay_trace.py's (bench/README.md).
bench-disk:
	@tools/setup --test
	@$(call configure,$(BUILD),-DCAIRN_TESTS=ON $(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target disk_replay
	bench/replay_trace.py $(TRACES) $(WORKLOAD) | $(BUILD)/bin/disk_replay --ram-gib 8 --disk-gib 64

soak:
	@tools/setup --test
	@$(call configure,$(BUILD),-DCAIRN_TESTS=ON $(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target cairn cairn_e2e test_cache
	cd $(BUILD)/tests/e2e && export CAIRN_BIN=$(CURDIR)/$(BUILD)/bin/cairn CAIRN_MODEL=$(CURDIR)/models/demo.gguf && \
	  CAIRN_SECONDS=$(SOAK_SECONDS) node load_soak.mjs && CAIRN_ROUNDS=$(SOAK_ROUNDS) node kill_soak.mjs
	CAIRN_MUTATIONS=$(SOAK_MUTATIONS) $(BUILD)/bin/test_cache --gtest_filter='*NoMutation*'

bench-index:
	@tools/setup --test
	@$(call configure,$(BUILD),-DCAIRN_TESTS=ON $(CMAKE_FLAGS))
	@cmake --build $(BUILD) -j $(JOBS) --target index_bench
	$(BUILD)/bin/index_bench

tsan:
	@tools/setup --test
	@$(call configure,$(BUILD)/tsan,-DCAIRN_TESTS=ON -DCAIRN_BENCH=OFF -DCAIRN_TEST_SANITIZE=thread $(CMAKE_FLAGS))
	@cmake --build $(BUILD)/tsan -j $(JOBS) --target check_instrumented
	cd $(BUILD)/tsan && ctest -j $(JOBS) --output-on-failure --no-tests=error -L instrumented

fuzz:
	@tools/setup --fuzz
	@$(call configure,$(BUILD)/fuzz,-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DCAIRN_FUZZ=ON -DCAIRN_BENCH=OFF \
	  "-DCAIRN_TEST_SANITIZE=fuzzer-no-link$(comma)address" $(CMAKE_FLAGS))
	@cmake --build $(BUILD)/fuzz -j $(JOBS) --target api_fuzz
	cd $(BUILD)/fuzz && bin/api_fuzz -max_total_time=$(FUZZ_SECONDS) -max_len=65536

comma := ,

format:
	git ls-files '*.h' '*.cc' | xargs clang-format -i

clean:
	rm -rf $(BUILD)
