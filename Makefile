# SPDX-License-Identifier: GPL-2.0-or-later
#
# Everything a person needs: build the parts, run a job on the drive, test.
# Each part's own build system decides what to rebuild; this file only says in
# which order. Variables: see 'make help'.

JOB     ?=
PROFILE ?=
OUT     ?=
FILL    ?=
AGE     ?=
SEED    ?=
SMP     ?=
KERNEL  ?=
MODULES ?=
MEM     ?=
SET     ?=
DRIVE   ?=
EPHEMERAL ?=
APP     ?=
APP_ARG ?=
TRACES  ?=
SCALE   ?=
EXECUTOR ?=
JOBS    ?=
PART    ?=
KEEP    ?=
COUNT   ?=
TESTS   ?=
HOURS   ?=
HOSTS   ?=
MINUTES ?=
SUITE   ?=
DIR     ?=
SUITES  ?=
PREFIX  ?= /usr/local
DESTDIR ?=
TRACE   ?= tests/traces/cloudphysics.trace.gz
REPLAY  ?= --fold

PHASE := host-tools/phase.sh
CORE  := build/core

RUN_ARGS := $(if $(PROFILE),--profile '$(PROFILE)') $(if $(JOB),--job '$(JOB)') $(if $(OUT),--out '$(OUT)') \
	$(if $(FILL),--fill '$(FILL)') $(if $(AGE),--age '$(AGE)') $(if $(SEED),--seed '$(SEED)') \
	$(if $(KERNEL),--kernel '$(KERNEL)') $(if $(MODULES),--modules '$(MODULES)') $(if $(SMP),--smp '$(SMP)') $(if $(MEM),--mem '$(MEM)') $(foreach s,$(SET),--set '$(s)') \
	$(if $(DRIVE),--drive '$(DRIVE)') $(if $(filter-out 0 no,$(EPHEMERAL)),--ephemeral) \
	$(if $(APP),--app '$(APP)') $(foreach a,$(APP_ARG),--app-arg '$(a)')

REPRODUCE := python3 host-tools/reproduce
REPRODUCE_ARGS := $(if $(TRACES),--traces '$(TRACES)') $(if $(SCALE),--scale '$(SCALE)') $(if $(OUT),--out '$(OUT)') \
	$(if $(SEEDS),--seeds '$(SEEDS)') $(if $(EXECUTOR),--executor '$(EXECUTOR)') $(if $(JOBS),--jobs '$(JOBS)')

# Parts of the build side by side: some of them, such as a package's installation, have work for
# one processor only. Those of the guest wait for each other.
# phase.sh reads SLATE_PARTS.
PARTS := SLATE_PARTS=1 $(MAKE) --no-print-directory -j6
PART_FAILED := { echo "slate: a part failed: see FAILED above; its whole output is in build/log" >&2; exit 1; }
RUN_PACKAGES := base qemu guest
BUILD := packages core qemu guest venv
TEST_PARTS := core-tests guest-image guest-kernel-one guest-kunit guest-apps guest-content guest-next venv-reproduce venv-install venv-lint venv-fit venv-parquet

# built only where it is asked for
SMALL := $(if $(filter small,$(KERNEL)),guest-kernel) $(if $(APP),guest-apps)

# A part that two targets need is built once also with 'make -j'.
ifndef SLATE_PARTS
.NOTPARALLEL:
endif

.DEFAULT_GOAL := help
STUDIES := pen pen-bands pen-choices ippbe ippbe-bands ippbe-choices spread spread-choices rps rps-choices rps-causes dac dac-choices
.PHONY: help run shell report replay $(STUDIES:%=reproduce-%) $(STUDIES:%=reproduce-%-quick) reproduce-baseline reproduce-standins reproduce-spread-standins reproduce-ippbe-responses reproduce-superblock reproduce-unfolded reproduce-pen-trials reproduce-mapcache reproduce-scale reproduce-causes reproduce-dac-long record-long reproduce-summary pictures study-placement test test-hosts check-fast lint qemu-series analyse fuzz fuzz-guest determinism power-cuts power-cuts-works soak suites fuzz-qemu asan valgrind tsan-qemu bench kunit build packages packages-all core core-tests qemu guest guest-kernel guest-kernel-one guest-kunit guest-apps guest-content guest-image guest-next venv venv-reproduce venv-install venv-lint venv-fit venv-parquet requirements install uninstall clean distclean

help: ## list the targets (this text)
	@echo "usage: make TARGET [VARIABLE=value ...]"
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'
	@echo
	@echo "variables of 'make run':"
	@echo "  JOB=fio-jobs/quick.fio PROFILE=nand-emu/profiles/default.ini OUT=DIR"
	@echo "  FILL=100 AGE=0 SEED=1 KERNEL=debian SMP=1 MEM=1G SET='ftl.buffer_units=0 section.key=value ...'"
	@echo "  DRIVE=aged.slate (made by 'host-tools/slate age') EPHEMERAL=1"
	@echo "  APP=pgbench APP_ARG='clients=8 fs=xfs ...' (docs/apps.md)"
	@echo "more: host-tools/slate run --help, host-tools/slate replay --help"

run: build $(SMALL) ## build what is missing, boot a guest on the drive, run JOB, print the report
	@host-tools/slate run $(RUN_ARGS)

shell: build $(SMALL) ## an interactive guest on the drive
	@host-tools/slate run --shell $(RUN_ARGS)

report: ## the last run's report again, and as a page with charts; HTML=FILE: the page alone, there
	@host-tools/slate report $(if $(HTML),--html '$(HTML)')

replay: core ## a trace on the drive, without a guest: TRACE=FILE PROFILE=NAME REPLAY='options'
	@host-tools/slate replay --profile '$(or $(PROFILE),default)' $(REPLAY) $(foreach t,$(TRACE),'$(t)')

reproduce-pen: core venv-reproduce ## PEN's figures (docs/reproduce.md); TRACES=DIR SCALE=N OUT=DIR JOBS=N EXECUTOR=slurm
	@$(REPRODUCE) run pen $(REPRODUCE_ARGS)

reproduce-pen-bands: core venv-reproduce ## PEN's averages over seeds and fits of stand-ins, likewise; SEEDS=5, without TRACES
	@$(REPRODUCE) run pen-bands $(REPRODUCE_ARGS)

reproduce-pen-choices: core venv-reproduce ## what PEN's text leaves open, taken the other way, likewise
	@$(REPRODUCE) run pen-choices $(REPRODUCE_ARGS)

reproduce-ippbe: core venv-reproduce ## IPPBE's figures, likewise
	@$(REPRODUCE) run ippbe $(REPRODUCE_ARGS)

reproduce-ippbe-bands: core venv-reproduce ## IPPBE's averages over seeds and fits of stand-ins, likewise; SEEDS=5, without TRACES
	@$(REPRODUCE) run ippbe-bands $(REPRODUCE_ARGS)

reproduce-ippbe-choices: core venv-reproduce ## what IPPBE's text leaves open besides, likewise
	@$(REPRODUCE) run ippbe-choices $(REPRODUCE_ARGS)

reproduce-spread: core venv-reproduce ## SPREAD's figures; TRACES=DIR SCALE=N OUT=DIR JOBS=N EXECUTOR=slurm
	@$(REPRODUCE) run spread $(REPRODUCE_ARGS)

reproduce-spread-choices: core venv-reproduce ## what SPREAD's text leaves open besides, likewise, without TRACES
	@$(REPRODUCE) run spread-choices $(REPRODUCE_ARGS)

reproduce-rps: core venv-reproduce ## flexFTL's figures, likewise, without TRACES
	@$(REPRODUCE) run rps $(REPRODUCE_ARGS)

reproduce-rps-choices: core venv-reproduce ## what flexFTL's text leaves open besides, likewise
	@$(REPRODUCE) run rps-choices $(REPRODUCE_ARGS)

reproduce-rps-causes: core venv-reproduce ## why flexFTL's numbers are off, likewise
	@$(REPRODUCE) run rps-causes $(REPRODUCE_ARGS)

reproduce-dac: build guest-apps guest-content venv-reproduce ## DAC's figures and table, likewise; on recordings of guests
	@$(REPRODUCE) run dac $(REPRODUCE_ARGS)

reproduce-dac-choices: build guest-apps guest-content venv-reproduce ## what DAC's text leaves open besides, likewise
	@$(REPRODUCE) run dac-choices $(REPRODUCE_ARGS)

reproduce-baseline: core ## the page FTL's write amplification beside mathematics, long; PART=matrix KEEP=1: its missing rows; OUT=DIR JOBS=N
	@$(REPRODUCE) baseline $(if $(OUT),--out '$(OUT)') $(if $(JOBS),--jobs '$(JOBS)') $(if $(PART),--part '$(PART)') $(if $(KEEP),--keep)

reproduce-standins: core ## fit stand-ins to the real traces in TRACES=DIR and validate them, an hour or more; OUT=DIR JOBS=N
	@$(REPRODUCE) fit 'TRACES=$(TRACES)'
	@$(REPRODUCE) validate 'TRACES=$(TRACES)' --out '$(or $(OUT),docs/results/standins)' $(if $(JOBS),--jobs '$(JOBS)')
	@$(REPRODUCE) validate 'TRACES=$(TRACES)' --kinds first --out '$(or $(OUT),docs/results/standins)/first' $(if $(JOBS),--jobs '$(JOBS)')

reproduce-spread-standins: core ## stand-ins for SPREAD's PRJ, USR, STG, validated on the real traces in TRACES=DIR, some minutes; OUT=DIR JOBS=N
	@$(REPRODUCE) spread-standins 'TRACES=$(TRACES)' $(if $(OUT),--out '$(OUT)') $(if $(JOBS),--jobs '$(JOBS)')

record-long: qemu ## record hosts' programs that write 4 GiB (docs/content-trace.md), as root; NAMES='pc synth' OUT=DIR
	@$(REPRODUCE) record $(if $(OUT),--out '$(OUT)') $(NAMES)

reproduce-ippbe-responses: core ## IPPBE's response times with what SSDSim does besides; web_3 in TRACES=DIR, half an hour; OUT=DIR JOBS=N
	@$(REPRODUCE) responses 'TRACES=$(TRACES)' $(if $(OUT),--out '$(OUT)') $(if $(JOBS),--jobs '$(JOBS)')

reproduce-superblock: core ## PEN on the Superblock FTL on the real traces in TRACES=DIR, some minutes; OUT=DIR
	@$(REPRODUCE) superblock 'TRACES=$(TRACES)' $(if $(OUT),--out '$(OUT)')

reproduce-unfolded: core ## NFTL and PEN on the real traces in TRACES=DIR, addresses folded and not, some minutes; OUT=DIR
	@$(REPRODUCE) unfolded 'TRACES=$(TRACES)' $(if $(OUT),--out '$(OUT)')

reproduce-pen-trials: core ## PEN with the patches of host-tools/reproduce/trials, on the real traces in TRACES=DIR, some minutes; OUT=DIR
	@$(REPRODUCE) pen-trials 'TRACES=$(TRACES)' $(if $(OUT),--out '$(OUT)')

reproduce-mapcache: core ## the cached map by its size, on the real traces in TRACES=DIR, some minutes; OUT=DIR
	@$(REPRODUCE) mapcache 'TRACES=$(TRACES)' $(if $(OUT),--out '$(OUT)')

reproduce-scale: core ## quantities of four papers on larger and smaller drives, twenty minutes; FULL=1: and at full size; OUT=DIR JOBS=N
	@$(REPRODUCE) scale $(if $(FULL),--full) $(if $(OUT),--out '$(OUT)') $(if $(JOBS),--jobs '$(JOBS)')

reproduce-causes: core ## experiments on claims whose numbers are off, RECORDINGS=DIR with iot and pc, twenty minutes; NAMES="..." OUT=DIR JOBS=N
	@$(REPRODUCE) causes $(if $(RECORDINGS),'RECORDINGS=$(RECORDINGS)') $(NAMES) $(if $(OUT),--out '$(OUT)') $(if $(JOBS),--jobs '$(JOBS)')

reproduce-dac-long: core ## DAC by length of the recordings in RECORDINGS=DIR, an hour; OUT=DIR JOBS=N
	@$(REPRODUCE) dac-long 'RECORDINGS=$(RECORDINGS)' $(if $(OUT),--out '$(OUT)') $(if $(JOBS),--jobs '$(JOBS)')

study-placement: build guest-apps ## RocksDB on the page FTL, with placement handles, and on zones, half an hour; OUT=DIR
	@$(REPRODUCE) placement $(if $(OUT),--out '$(OUT)')

reproduce-summary: ## every published claim beside ours, from the stored tables: docs/results/README.md
	@$(REPRODUCE) summary

pictures: venv-reproduce ## draw a study's figures from its stored tables: STUDY=pen FIGURES="fig05 fig12a" OUT=DIR
	@build/venv-reproduce/bin/python3 host-tools/reproduce pictures $(or $(STUDY),pen) $(FIGURES) $(if $(OUT),--out '$(OUT)')

reproduce-pen-quick: core venv-reproduce ## some of PEN's figures on fewer traces, within three minutes
	@$(REPRODUCE) run pen --quick $(REPRODUCE_ARGS)

reproduce-pen-bands-quick: core venv-reproduce ## one of these bands, likewise
	@$(REPRODUCE) run pen-bands --quick $(REPRODUCE_ARGS)

reproduce-pen-choices-quick: core venv-reproduce ## some of what PEN leaves open, likewise
	@$(REPRODUCE) run pen-choices --quick $(REPRODUCE_ARGS)

reproduce-ippbe-quick: core venv-reproduce ## some of IPPBE's, likewise
	@$(REPRODUCE) run ippbe --quick $(REPRODUCE_ARGS)

reproduce-ippbe-bands-quick: core venv-reproduce ## one of these bands, likewise
	@$(REPRODUCE) run ippbe-bands --quick $(REPRODUCE_ARGS)

reproduce-ippbe-choices-quick: core venv-reproduce ## some of what IPPBE leaves open, likewise
	@$(REPRODUCE) run ippbe-choices --quick $(REPRODUCE_ARGS)

reproduce-spread-quick: core venv-reproduce ## some of SPREAD's, within a minute
	@$(REPRODUCE) run spread --quick $(REPRODUCE_ARGS)

reproduce-spread-choices-quick: core venv-reproduce ## some of what SPREAD leaves open, likewise
	@$(REPRODUCE) run spread-choices --quick $(REPRODUCE_ARGS)

reproduce-rps-quick: core venv-reproduce ## some of flexFTL's, likewise
	@$(REPRODUCE) run rps --quick $(REPRODUCE_ARGS)

reproduce-rps-choices-quick: core venv-reproduce ## some of what flexFTL's text leaves open, likewise
	@$(REPRODUCE) run rps-choices --quick $(REPRODUCE_ARGS)

reproduce-rps-causes-quick: core venv-reproduce ## some of why flexFTL's numbers are off, likewise
	@$(REPRODUCE) run rps-causes --quick $(REPRODUCE_ARGS)

reproduce-dac-quick: core venv-reproduce ## some of DAC's, on short recordings that are here, within a minute
	@$(REPRODUCE) run dac --quick $(REPRODUCE_ARGS)

reproduce-dac-choices-quick: core venv-reproduce ## some of what DAC leaves open, likewise
	@$(REPRODUCE) run dac-choices --quick $(REPRODUCE_ARGS)

test: ## build everything, run all suites; TESTS=word: only tests whose name has it; SUITE=guest: one suite; TURNS=all: and tests of other turns
	@rm -f $(or $(SLATE_BUILD),build)/log/*.failed
	@$(PARTS) packages-all || true
	@python3 tests/run.py --room
	@$(PARTS) -k $(BUILD) $(TEST_PARTS) || true
	@python3 tests/run.py $(if $(TURNS),--every-turn) $(if $(TESTS),--only '$(TESTS)') $(SUITE)

test-hosts: packages-all ## both commands in roots of Debian 12, 13 and forky, as root (long); HOSTS='13 container'
	@$(if $(filter container,$(HOSTS)),$(PHASE) -q packages-hosts "what a container needs" host-tools/install-packages.sh host-tools/packages.d/more/hosts.txt)
	@tests/hosts.sh $(HOSTS)

check-fast: core-tests ## the core's tests only
	@python3 tests/run.py $(if $(TESTS),--only '$(TESTS)') core

lint: packages-all venv venv-lint ## ruff, mypy, codespell, shellcheck and clang-tidy over code and documents, half a minute; TESTS=word
	@python3 tests/run.py $(if $(TESTS),--only '$(TESTS)') lint

qemu-series: qemu ## compile and test QEMU after each patch of its series (long)
	@qemu-patches/each-step.sh

analyse: core ## gcc -fanalyzer, clang --analyze and cppcheck over the C code; a finding that is not explained in place fails
	@$(PHASE) -q packages-analyse "what make analyse needs" host-tools/install-packages.sh host-tools/packages.d/base.txt host-tools/packages.d/analyse.txt
	@tests/analyse.sh

kunit: packages-all core qemu guest guest-kunit venv ## the core's tests in a guest's kernel, and the drive through its block layer, under KUnit
	@python3 tests/run.py $(if $(TESTS),--only '$(TESTS)') kunit

fuzz: packages-all core-tests ## ten minutes of random calls, steered by coverage, against the model of nand.h
	@tests/fuzz/run.sh 600

fuzz-guest: qemu ## COUNT random commands of a guest to its controller (a million), and again with the drive in a thread; SEED
	@python3 tests/qemu/fuzz_guest.py --commands $(or $(COUNT),1000000) --seed $(or $(SEED),1)
	@python3 tests/qemu/fuzz_guest.py --commands $(or $(COUNT),1000000) --seed $(or $(SEED),1) --thread

determinism: build ## 20 runs with 1, 2, 4 and 8 vCPUs each, on an idle and a busy host, must be equal
	@python3 tests/guest/determinism.py --runs 20

power-cuts: build guest-kernel ## COUNT power cuts under ext4 (100), at nanoseconds of SEED's; PROFILE=FILE SET='...'; goes on where it stopped
	@host-tools/slate cuts $(if $(COUNT),--count '$(COUNT)') $(if $(SEED),--seed '$(SEED)') \
		$(if $(PROFILE),--profile '$(PROFILE)') $(foreach s,$(SET),--set '$(s)')

power-cuts-works: build guest-kernel guest-apps ## 13,000 power cuts under the ready works, hours, with a table: OUT=DIR ONLY=word; goes on where it stopped
	@python3 tests/soak/cuts.py $(if $(OUT),--out '$(OUT)') $(if $(ONLY),--only '$(ONLY)')

soak: build guest-kernel ## HOURS (1) of random work, cuts, resets, bad blocks and wear on every FTL; SEED; goes on where it stopped
	@python3 tests/soak/soak.py --hours $(or $(HOURS),1) $(if $(SEED),--seed '$(SEED)')

fuzz-qemu: packages-all qemu ## MINUTES (10) of a guest's accesses to its controller, steered by coverage, in QEMU's own harness
	@qemu-patches/fuzz.sh $$((60 * $(or $(MINUTES),10)))

asan: packages-all core-tests qemu ## the core's long tests and the suites of slate-replay and QEMU under ASan, LSan and UBSan (long)
	@tests/asan.sh core
	@tests/asan.sh replay
	@tests/asan.sh qemu

valgrind: packages-all core-tests ## the suite of slate-replay, with slate-load and slatectl, under Valgrind (long); TESTS=word
	@tests/valgrind.sh $(if $(TESTS),'$(TESTS)')

suites: ## blktests or xfstests from your built checkout DIR, in the Debian guest; TESTS='words of ./check' PROFILE SET KERNEL MODULES SUITES='--beside-raw ...'
	@python3 tests/suites/suites.py '$(DIR)' $(if $(TESTS),--tests='$(TESTS)') $(foreach p,$(PROFILE),--profile '$(p)') \
		$(foreach s,$(SET),--set '$(s)') $(if $(OUT),--out '$(OUT)') $(if $(KERNEL),--kernel '$(KERNEL)') \
		$(if $(MODULES),--modules '$(MODULES)') $(SUITES)

tsan-qemu: packages-all qemu ## QEMU's tools under ThreadSanitizer, to look at the drive's thread (long)
	@qemu-patches/tsan.sh

bench: packages-all build ## measure the core, and the cost of the drive in QEMU; MACHINE="a few words": renews BENCH.md
	@MACHINE='$(MACHINE)' tests/bench/run.sh

build: ## build what 'make run' needs, run nothing
	@$(PARTS) $(BUILD) || $(PART_FAILED)

packages: ## install the Debian packages that 'make run' needs, if any is missing
	@$(PHASE) packages "Debian packages that a run needs" \
		host-tools/install-packages.sh $(RUN_PACKAGES:%=host-tools/packages.d/%.txt)

packages-all: ## install the packages of all parts: tests, images, linters
	@$(PHASE) packages "Debian packages of host-tools/packages.d" host-tools/install-packages.sh

core: packages ## the core: ftl, nand-emu, libslate
	@$(PHASE) -q core "ftl, nand-emu and libslate (cmake, ninja)" sh -ec ' \
		grep -qsxF "CMAKE_HOME_DIRECTORY:INTERNAL=$(CURDIR)" $(CORE)/CMakeCache.txt || rm -rf $(CORE); \
		[ -e $(CORE)/build.ninja ] || cmake -S . -B $(CORE) -G Ninja; \
		cmake --build $(CORE) --target products; cmake --install $(CORE) --prefix $(CORE)/install'

core-tests: core ## the core's tests, fuzzers and examples
	@$(PHASE) -q core-tests "the core's tests" cmake --build $(CORE)

qemu: core ## QEMU with the drive in it
	@$(PHASE) qemu "QEMU with the nand-ssd driver" qemu-patches/build.sh

guest: core ## the guest's kernel and initramfs
	@$(PHASE) guest "the guest's kernel and initramfs" host-tools/guest/build.sh

guest-kernel: packages-all guest ## the small guest kernels, for KERNEL=small (ten minutes, once)
	@$(PHASE) kernel "the small guest kernels (--kernel small)" host-tools/guest/kernel.sh

guest-kernel-one: packages-all guest ## the small kernel for one processor alone, for the tests; the other, too, if it was ever built (five minutes, once)
	@$(PHASE) kernel "the small guest kernel for one processor" \
		host-tools/guest/kernel.sh $(if $(wildcard build/guest/*/small-smp/vmlinux),,small)

guest-kunit: packages-all guest-kernel-one ## KUnit's suites as modules for the small kernel (a minute, once)
	@$(PHASE) kunit "KUnit's suites, for the small guest kernel" host-tools/guest/kunit.sh

guest-content: packages-all guest-apps ## what the content workloads work on, for --content (two minutes, once)
	@$(PHASE) content "what the content workloads work on" host-tools/guest/content.sh

guest-apps: packages-all guest ## the image of applications, for --app and --apps (a minute or two, once)
	@$(PHASE) apps "the image of applications" host-tools/guest/apps.sh

guest-image: packages-all qemu guest ## a Debian as a disk image, build/image/debian.qcow2, for --image (some minutes, once)
	@$(PHASE) image "a Debian as a disk image, from packages" host-tools/guest/image.sh

guest-next: packages-all core ## a guest of Debian's next release with its image of applications, for tests (two minutes, once)
	@$(PHASE) next "a guest of Debian's next release" env SLATE_GUEST=forky host-tools/guest/build.sh
	@$(PHASE) next-apps "that guest's image of applications" env SLATE_GUEST=forky host-tools/guest/apps.sh

venv: packages ## the launcher's Python packages
	@$(PHASE) -q venv "the launcher's Python packages (build/venv)" host-tools/venv.sh

venv-reproduce: packages ## Snakemake and matplotlib, for reproduce-*
	@$(PHASE) -q packages-reproduce "what Snakemake's packages need" host-tools/install-packages.sh host-tools/packages.d/reproduce.txt
	@$(PHASE) -q venv-reproduce "Snakemake and matplotlib (build/venv-reproduce)" \
		host-tools/venv.sh reproduce

install: core venv venv-install ## install what is built, QEMU and guest too: PREFIX=/usr/local DESTDIR=
	@host-tools/install/install.py --prefix '$(PREFIX)' --destdir '$(DESTDIR)'

uninstall: ## remove what 'make install' put there
	@host-tools/install/install.py --prefix '$(PREFIX)' --destdir '$(DESTDIR)' --uninstall

venv-install: packages ## what makes completion for shells
	@$(PHASE) -q venv-install "shtab (build/venv-install)" \
		host-tools/venv.sh install

venv-lint: packages ## what 'make lint' runs beside Debian packages
	@$(PHASE) -q venv-lint "the linters (build/venv-lint)" \
		host-tools/venv.sh lint

venv-fit: packages ## SciPy, for 'slate fit' and 'slate study'
	@$(PHASE) -q venv-fit "SciPy (build/venv-fit)" \
		host-tools/venv.sh fit

venv-parquet: packages ## pyarrow, for traces that are Parquet or Arrow files
	@$(PHASE) -q venv-parquet "pyarrow (build/venv-parquet)" \
		host-tools/venv.sh parquet

requirements: ## renew the lists of Python packages, host-tools/python/*.txt, from *.in; UPGRADE=1: the newest versions
	@host-tools/venv.sh requirements
	@host-tools/python/renew.py $(if $(UPGRADE),--upgrade)

clean: ## remove what builds within a minute; keep QEMU, downloads and out/
	rm -rf build/core build/test build/log build/venv build/venv-lint build/lint

distclean: ## remove everything that was built or downloaded; keep out/
	rm -rf build .snakemake
