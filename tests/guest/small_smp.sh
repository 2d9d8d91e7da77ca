#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# small_smp.sh: builds the small kernel for several processors, which 'make test' does without, and runs
# tests of guests that have several. TAP on stdout. Once the kernel is there, 'make test' takes it.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/../.."
host-tools/guest/kernel.sh small-smp >&2
status=0
for word in test_neighbours test_realtime test_suites.Suites; do
	python3 tests/tap.py tests/guest --only "$word" || status=1
done
exit $status
