# aqmlab. `make` lists what there is to make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := target/stamps

# Nothing is fetched but packages, and the virtual environment of whoever calls make is left alone.
export UV_PYTHON_DOWNLOADS := never
export UV_PROJECT_ENVIRONMENT := $(VENV)
unexport VIRTUAL_ENV
# Each of the hundreds of processes of the tests would compile matplotlib and the tests' own modules again.
unexport PYTHONDONTWRITEBYTECODE

ENGINE := Cargo.toml Cargo.lock $(shell find crates -type f)

.DEFAULT_GOAL := help
.PHONY: help setup demo test check test-linux test-cluster engines-agree engines-random fuzz fuzz-guided coverage digests lint format javascript playground kernel-disciplines missing-package c-library wheel release licences bench counts oracle kernel oracle-linux calibrate-judge guest test-kernel packetdrill docs site reproduce evaluation l4s lock clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMPS)/hosts $(STAMPS)/packages ## make .venv with aqmlab and its tools in it, and the playground where it can be built
	@if js/scripts/wasm.sh --ready; then $(MAKE) --no-print-directory $(STAMPS)/playground; \
	else echo "Without it the playground is not built; all else works. Once it is there, repeat make setup"; fi
	@if kernel/build.sh --ready; then $(MAKE) --no-print-directory $(STAMPS)/disciplines; \
	else echo "Without it the kernel's queue disciplines are not built; all else works. Once it is there, repeat make setup"; fi

demo: $(STAMPS)/engine ## run LRED experiment 1 (N = 400) for five AQMs: table, figure, report in out/demo
	$(BIN)/aqmlab compare lred/exp1 --aqm lred --aqm pi --aqm rem --aqm red --aqm droptail --out out/demo

# JavaScript is tested where it can be built. Examples are not built here: lint checks them, and who runs them builds them.
test: setup ## run every test
	@if js/scripts/wasm.sh --ready; then $(MAKE) --no-print-directory javascript playground; \
	else echo "JavaScript and the playground are not tested"; fi
	cargo test --workspace --features stacks/quinn --quiet --tests
	cargo test --workspace --quiet --doc
	cargo test --package aqm --no-default-features --quiet --test all verdicts
	$(BIN)/pytest -n logical --dist worksteal

# What differs from a commit, or from the last one: BASE=main
check: setup ## lint what has changed, and run the tests that import it or are of its crates
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/touched.py $(or $(BASE),HEAD)

# Where the machine lacks something, these tests fail; `make test` has the shorter of them, and there they skip.
test-linux: setup ## run every test of the Linux engine, and compare it with the packet engine: ten minutes
	AQMLAB_TEST_LINUX=1 $(BIN)/pytest -m linux --timeout 600
	$(MAKE) engines-agree

# They skip where slurm-wlm or munge is missing, and `make test` skips them.
test-cluster: setup ## start SLURM on this machine, test sweeps on its jobs, and end it: five minutes
	AQMLAB_TEST_SLURM=1 $(BIN)/pytest -m slurm

# One part: ROWS='codel_* *_two'.
engines-agree: setup ## compare the Linux engine with the packet engine, in 47 scenarios
	PYTHONPATH=tests $(BIN)/python -m oracle.linux.engines $(if $(ROWS),--rows '$(ROWS)') $(if $(SEEDS),--seeds $(SEEDS))

# Without SEED and N the first 20 of seed 1. One scenario, with its file: ONE=17. It goes on where it was stopped.
engines-random: setup ## compare both engines in N=20 scenarios that are drawn at random, and shrink those that differ
	PYTHONPATH=tests $(BIN)/python -m oracle.linux.drawn $(if $(SEED),--seed $(SEED)) $(if $(N),--n $(N)) $(if $(ONE),--one $(ONE))

# It goes on where the last session ended: out/fuzz/state.json. Some targets only: TARGETS='texts traces'; a wrong name lists
# them. From a seed: SEED=0. One attack, as a finding names it: ONE=texts:4711.
fuzz: setup ## attack with odd input for SECONDS=600; what is found is kept in tests/regressions
	PYTHONPATH=tests $(BIN)/python -m fuzz $(if $(SECONDS),--seconds $(SECONDS)) $(if $(TARGETS),--targets $(TARGETS)) \
	  $(if $(SEED),--seed $(SEED)) $(if $(ONE),--one $(ONE))

# For SECONDS=600. What it finds goes, with a name that says what it is, to tests/regressions/texts.
COVERAGE := -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-pc-table \
  -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-trace-compares
fuzz-guided: setup ## let coverage guide mutations of scenario texts (needs nightly Rust and a C++ compiler)
	RUSTFLAGS='$(COVERAGE) -Zsanitizer=address' cargo +nightly build --quiet --release --target x86_64-unknown-linux-gnu \
	  --manifest-path tests/fuzz/guided/Cargo.toml --target-dir target/guided
	PYTHONPATH=tests $(BIN)/python -m fuzz.corpus
	target/guided/x86_64-unknown-linux-gnu/release/guided out/guided/seeds -dict=out/guided/words -timeout=10 -max_len=4096 \
	  -rss_limit_mb=2048 -artifact_prefix=out/guided/ -max_total_time=$(or $(SECONDS),600)

# Some rows, fewer trials: ROWS='1 4' TRIALS=100
coverage: setup ## count the intervals of --until that contain the true value, in 1000 trials: half an hour
	PYTHONPATH=tests $(BIN)/python -m intervals $(if $(ROWS),--rows $(ROWS)) $(if $(TRIALS),--trials $(TRIALS))

# Where results changed with a reason, RECORD=1 writes what a release build comes to.
digests: setup ## check that builds for other processors come to the recorded results, bit for bit
	PYTHONPATH=tests $(BIN)/python -m digests $(if $(RECORD),--record)

lint: setup ## check format, lints, types and prose; warnings are errors
	rustfmt --check --edition 2024 $$(git ls-files '*.rs')
	cargo clippy --workspace --all-targets --features stacks/quinn --quiet -- --deny warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	PYTHONPATH=tests $(BIN)/python -m prose

format: setup ## format everything
	rustfmt --edition 2024 $$(git ls-files '*.rs')
	$(BIN)/ruff format --quiet

javascript: $(STAMPS)/javascript ## build the engine for JavaScript, an npm package in js/dist, and test it
	cd js && npm run --silent lint && npm run --silent test

$(STAMPS)/wasm: js/scripts/wasm.sh $(ENGINE)
	js/scripts/wasm.sh
	@mkdir -p $(@D) && touch $@

# The package is there as long as it is not removed by hand.
$(STAMPS)/javascript: $(STAMPS)/wasm $(wildcard js/*.json) $(shell find js/src js/scripts -type f) $(shell find python/aqmlab/library papers -name "*.toml") \
  $(if $(wildcard js/dist/index.js),,missing-package)
	cd js && npm ci --silent && npm run --silent build
	@touch $@

missing-package:

# In Chromium, if it is installed.
playground: $(STAMPS)/playground ## build the playground, a page that runs the engine in a browser, in out/playground, and test it
	cd playground && npm run --silent lint && npm run --silent test

$(STAMPS)/playground: $(STAMPS)/javascript docs/glossary.md $(wildcard playground/*.*) $(shell find playground/src -type f) \
  $(if $(wildcard out/playground/index.html),,missing-package)
	cd playground && npm ci --silent && npm run --silent build
	install -D --mode 644 --target-directory python/aqmlab/playground out/playground/index.html out/playground/widget.js
	@touch $@

kernel-disciplines: $(STAMPS)/disciplines ## compile the algorithms as queue disciplines for the kernel, which go into the wheel

DISCIPLINES := python/aqmlab/kernel
$(STAMPS)/disciplines: $(wildcard kernel/*) $(if $(wildcard $(DISCIPLINES)/aqm.h),,missing-package)
	rm -f $(DISCIPLINES)/*.bpf.o $(DISCIPLINES)/*.[ch] $(DISCIPLINES)/build.sh
	kernel/build.sh $(DISCIPLINES)
	install --mode 644 --target-directory $(DISCIPLINES) $(wildcard kernel/*.c kernel/*.h kernel/build.sh kernel/LICENSE*)
	@mkdir -p $(@D) && touch $@

# Elsewhere: PREFIX=/usr/local
c-library: ## build libaqm, the algorithms for C and C++, with header and pkg-config's file, in out/c
	cargo build --quiet --release --package aqm-c
	install -D --mode 644 crates/aqm-c/include/aqm.h $(or $(PREFIX),out/c)/include/aqm.h
	install -D --mode 644 target/release/libaqm_c.a $(or $(PREFIX),out/c)/lib/libaqm.a
	install -D target/release/libaqm_c.so $(or $(PREFIX),out/c)/lib/libaqm.so.0
	ln -sf libaqm.so.0 $(or $(PREFIX),out/c)/lib/libaqm.so
	install -d $(or $(PREFIX),out/c)/lib/pkgconfig
	sed "s/@VERSION@/$$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)/" crates/aqm-c/aqm.pc > $(or $(PREFIX),out/c)/lib/pkgconfig/aqm.pc

# What the machine lacks is listed first. One processor: TARGETS=x86_64. The playground is part of the wheel where it can be
# built. Compiled crates stay in target/wheel for the next time.
wheel: ## build wheels for x86-64 and ARM and the sdist in dist, twice; check, install and run them: half an hour
	@$(RELEASE)

release: ## as wheel, with the engine laid out by a profile where llvm-profdata is installed; publishes nothing
	@$(RELEASE) --guided

RELEASE = $(PYTHON) -m release.tools && $(MAKE) --no-print-directory setup $(STAMPS)/package \
  && $(BIN)/python -m release $(if $(TARGETS),--targets '$(TARGETS)')

licences: setup ## collect the licences of all packages that are built in, in THIRD-PARTY.txt
	cd playground && npm ci --silent
	$(BIN)/python -m release.licences

# Some tables only: TABLES='flows rivals'; a wrong name lists them.
bench: setup ## time the engine, beside ns-2 and ns-3 where they are installed (QUICK=1: under a minute)
	$(BIN)/python -m benches $(if $(QUICK),--quick) $(if $(TABLES),--tables $(TABLES))

# What is recorded, in benches/counts.json, is written anew with RECORD=1; so are the instructions and the state of each
# discipline, in papers/aqmlab_papers/complexity.json.
counts: setup ## count the engine's instructions, and check that they have not risen
	$(BIN)/python -m benches.counts $(if $(RECORD),--record)
	$(if $(RECORD),$(BIN)/python -m benches.complexity)

# One part: ROWS='exp1_* sens_*'. Against ns-2 itself: LIVE=1 N=250 AQM=PI KEYS='q0=60 n_udp=50 udp_mbps=0.02' SEEDS=3
LIVE_KEYS = $(if $(N),n_tcp=$(N)) $(if $(AQM),aqm=$(AQM)) $(KEYS)
oracle: setup ## compare with stored ns-2 runs, or with ns-2 itself
	PYTHONPATH=tests $(BIN)/python -m oracle $(if $(SEEDS),--seeds $(SEEDS)) $(if $(ROWS),--rows '$(ROWS)') $(if $(LIVE),--live tag=live $(LIVE_KEYS))

kernel: ## build the Linux kernel that oracle-linux runs, once, in ~/.cache/aqmlab: ten minutes
	tests/oracle/linux/build.sh

# One part: ROWS='fifo_* open_codel_*'. Linux itself, and a figure: LIVE=1 N=2 CC=cubic RTT=40 RATE=10 QDISC='codel limit
# 1000', or LIVE=1 POINT=fifo_reno_10m_40ms_n2_100p FROM=10 TO=20; tests/oracle/linux/README.md has all keys. CC and other
# names are also make's own: only those that the command line gives count.
LINUX_KEYS = POINT N CC RTT GROUPS RATE QDISC NETEM OFFLOAD FQ RECEIVE_US ECN HYSTART DUR WARM SEEDS TRACE FROM TO
oracle-linux: setup ## compare with stored runs of the Linux kernel, or with the kernel itself
	PYTHONPATH=tests $(BIN)/python -m oracle.linux $(if $(ROWS),--rows '$(ROWS)') $(if $(LIVE),--live \
	  $(foreach key,$(LINUX_KEYS),$(if $(filter command,$(origin $(key))),'$(key)=$($(key))')))

# Some only: CASES='3 17', or KEPT=1; what is estimated beside: DIRECT=1; what is not stored is recorded by `make kernel`'s kernel with RECORD=1.
calibrate-judge: setup ## aqmlab calibrate against recordings of the Linux kernel with hidden parameters: half an hour
	PYTHONPATH=tests $(BIN)/python -m oracle.calibrate $(if $(CASES),--cases $(CASES)) $(if $(KEPT),--kept) $(if $(RECORD),--record) $(if $(DIRECT),--direct)

# Its runs with TCP go to the file of stored runs with CLOSED=record. Some laws only: LAWS='lred pi'. What is missing is said.
test-kernel: setup guest ## hold the kernel's queue disciplines against ours: compiled here, and in a guest's kernel: ten minutes
	cargo test --quiet --package aqm --test all kernel -- --nocapture
	PYTHONPATH=tests $(BIN)/python -m oracle.kernel $(if $(LAWS),--laws '$(LAWS)') $(if $(CLOSED),--closed $(CLOSED))
	AQMLAB_TEST_KERNEL=1 $(BIN)/pytest -m kernel

guest: ## get the Linux kernel that test-kernel boots, once, in ~/.cache/aqmlab: seconds
	tests/oracle/kernel/fetch.sh

packetdrill: ## play scripts of packetdrill against our TCP: SCRIPTS=folder, such as gtests/net/tcp of google/packetdrill
	cargo run --quiet --package netsim --example packetdrill -- '$(SCRIPTS)'

site: setup ## build the documentation as a site, in out/site
	$(BIN)/python site/build.py

# One page alone: PAGES=docs/tutorial/2-disciplines.md
docs: setup ## write the pages that are generated, and the outputs and figures that the others show
	$(BIN)/python -m aqmlab.reports.pages docs/reference
	$(BIN)/python -m release.manual
	$(BIN)/python -m release.dependencies
	PYTHONPATH=tests $(BIN)/python -m blocks $(PAGES)

# What is done is kept in out/reproduce/store: interrupted, it goes on. The site has the reports, if they are there.
reproduce: setup ## reproduce the papers, 5 to 20 seeds, in out/reproduce, and write docs/papers from it: an hour
	$(BIN)/aqmlab reproduce all --out out/reproduce
	$(BIN)/python -m aqmlab_papers.show.pages out/reproduce docs/papers

# One more discipline costs its own runs: out/rfc7928/store keeps the others. The site has the reports, if they are there.
evaluation: setup ## evaluate all disciplines by RFC 7928, senders by RFC 9743, and write docs/evaluation: ten minutes
	$(BIN)/aqmlab evaluate --aqm all --out out/rfc7928
	$(BIN)/aqmlab evaluate --aqm codel --aqm pie --aqm fq_codel --aqm lred --aqm raqm --aqm redtail --aqm dtared \
	  --store out/rfc7928/store --out out/rfc7928-papers
	$(BIN)/python -m aqmlab_papers.evaluation.show.pages out/rfc7928 docs/evaluation/all.md
	$(BIN)/python -m aqmlab_papers.evaluation.show.pages out/rfc7928-papers docs/evaluation/papers.md section-8.2.3-tradeoff
	$(BIN)/aqmlab evaluate --rfc 9743 --tcp cubic --tcp bbr3 --out out/rfc9743
	$(BIN)/python -m aqmlab_papers.evaluation.show.pages out/rfc9743 docs/evaluation/senders.md

# Linux's senders run, in a quarter of an hour, if `make kernel` has built the kernel.
UML = $${AQMLAB_CACHE:-$$HOME/.cache/aqmlab}/kernel/linux
l4s: setup ## run the L4S matrices, in out/l4s, and write docs/evaluation/l4s.md from them: a minute
	for name in rates shares round-trips dctcp; do $(BIN)/aqmlab sweep l4s/$$name --out out/l4s/$$name || exit; done
	if test -x "$(UML)"; then $(BIN)/aqmlab sweep l4s/dctcp --engine linux --out out/l4s/dctcp-linux; fi
	$(BIN)/python -m aqmlab_papers.evaluation.show.l4s out/l4s docs/evaluation/l4s.md

lock: $(STAMPS)/uv ## choose the newest packages that pyproject.toml allows, and pin them
	target/uv/bin/uv pip compile --quiet --universal --upgrade --generate-hashes --no-header --all-extras --group dev \
	  --no-emit-package aqmlab --no-emit-package aqmlab-papers --output-file requirements.lock pyproject.toml
	target/uv/bin/uv pip compile --quiet --universal --upgrade --generate-hashes --no-header --constraints requirements.lock \
	  --no-annotate --group build --output-file requirements-run.lock pyproject.toml
	target/uv/bin/uv pip compile --quiet --universal --upgrade --generate-hashes --no-header \
	  --constraints requirements.lock --group pyproject.toml:package --output-file release/requirements.lock

clean: ## remove what was built and written
	rm -rf $(VENV) target out dist js/dist js/node_modules js/LICENSE playground/node_modules

# What must be there already. Says all that is missing, and how to get it.
$(STAMPS)/tools:
	@missing=; \
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { missing=1; \
	  echo "Python >= 3.11 is missing: install python3, or say which: make PYTHON=/path/to/python3"; }; \
	$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { missing=1; \
	  echo "Python's venv is missing: install it (Debian: apt install python3-venv)"; }; \
	command -v cargo >/dev/null || { missing=1; echo "Rust is missing: install rustup (https://rustup.rs) and a stable toolchain"; }; \
	command -v cc >/dev/null || { missing=1; echo "A C compiler is missing: install gcc or clang (Debian: apt install build-essential)"; }; \
	test -z "$$missing"
	@mkdir -p $(@D) && touch $@

# uv, ours alone, where there is none.
$(STAMPS)/uv: $(STAMPS)/tools
	@if command -v uv >/dev/null; then mkdir -p target/uv/bin && ln -sf "$$(command -v uv)" target/uv/bin/uv; \
	else $(PYTHON) -m venv target/uv && target/uv/bin/python -m pip install --quiet uv; fi
	@touch $@

# What builds and checks wheels, apart from .venv: 450 MB, most of it zig.
$(STAMPS)/package: $(STAMPS)/uv release/requirements.lock
	target/uv/bin/uv venv --quiet --clear --python "$$(command -v $(PYTHON))" target/package
	target/uv/bin/uv pip sync --quiet --python target/package/bin/python --require-hashes release/requirements.lock
	@touch $@

# What aqmlab needs, and what builds it. The project itself is left out: maturin installs it below, not in isolation.
$(STAMPS)/venv: $(STAMPS)/uv requirements-run.lock
	target/uv/bin/uv venv --quiet --clear --python "$$(command -v $(PYTHON))" $(VENV)
	target/uv/bin/uv pip install --quiet --compile-bytecode --python $(BIN)/python --require-hashes \
		--requirements requirements-run.lock
	@touch $@

# All extras, and the tools of the developers.
$(STAMPS)/packages: $(STAMPS)/venv requirements.lock
	target/uv/bin/uv pip install --quiet --python $(BIN)/python --require-hashes --requirements requirements.lock
	@touch $@

$(STAMPS)/papers: $(STAMPS)/venv papers/pyproject.toml papers/hatch_build.py
	target/uv/bin/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable papers
	@touch $@

$(STAMPS)/engine: $(STAMPS)/papers $(ENGINE)
	PATH="$(CURDIR)/target/uv/bin:$$PATH" VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --uv --group build
	@touch $@

# The programs of the Linux engine.
$(STAMPS)/hosts: $(STAMPS)/engine
	cargo build --quiet --release --package router --package traffic
	install -D --strip --target-directory python/aqmlab/bin target/release/aqmlab-router target/release/aqmlab-traffic
	@touch $@
