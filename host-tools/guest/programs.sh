#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# programs.sh: compile Slate's own programs for the guest, from the sources in src/ of this folder, into bin/.
# It runs in the guest's root, so that the programs are the same bytes from any host.
set -euo pipefail
mkdir -p bin
cd src
flags=(-O2 -std=gnu11 -Wall -Wextra -Wno-missing-field-initializers -Ihost-tools/trace -Ihost-tools/libslate -Inand-emu
	-Iftl/common -s "-Wl,--build-id=none")

gcc "${flags[@]}" -static -o ../bin/slate-mark host-tools/guest/slate-mark.c
gcc "${flags[@]}" -static -o ../bin/slate-marks host-tools/guest/slate-marks.c
gcc "${flags[@]}" -static -o ../bin/slate-handoff host-tools/guest/slate-handoff.c
gcc "${flags[@]}" -static -o ../bin/fsyncs host-tools/guest/fsyncs.c
gcc "${flags[@]}" -static -o ../bin/records host-tools/guest/records.c
gcc "${flags[@]}" -Ihost-tools/load -o ../bin/slate-load host-tools/load/*.c host-tools/trace/*.c \
	host-tools/libslate/{closest,hist}.c -ljansson -luring -lz -lzstd -lgcrypt
gcc "${flags[@]}" -Ihost-tools/ctl -o ../bin/slatectl host-tools/ctl/*.c host-tools/libslate/closest.c -ljansson -lnvme
