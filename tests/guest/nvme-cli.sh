#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# nvme-cli.sh - in the guest with the image of applications: nvme-cli's own tests, each in a
# process of its own, on the controller CTRL. nvme-cli.txt gets a line 'TEST ok' or 'TEST FAIL' for
# each, TEST.txt what it said.
ctrl=${CTRL:-nvme0}
in-apps true
tests=/run/apps/usr/share/nvme-cli/tests
sed -i "s/nvme0/$ctrl/" $tests/config.json

run() { # TEST AS
	status=FAIL
	# shellcheck disable=SC2016 # expanded inside
	in-apps sh -c 'cd /usr/share/nvme-cli && PYTHONPATH=tests exec python3 -m unittest -v "$1"' sh "$1" \
		>"$OUT/$2.txt" 2>&1 && status=ok
	# what it printed goes to files of its own
	for log in /run/apps/usr/share/nvme-cli/nvmetests/*/*.log; do
		[ ! -e "$log" ] || cat "$log" >>"$OUT/$2.txt"
	done
	rm -rf /run/apps/usr/share/nvme-cli/nvmetests
	echo "$2 $status" >>"$OUT/nvme-cli.txt"
}

for file in "$tests"/nvme_*_test.py; do
	name=${file##*/}
	name=${name%.py}
	[ "$name" = nvme_simple_template_test ] || run "$name" "$name"
done
in-apps nvme id-ctrl "/dev/$ctrl" >"$OUT/id-ctrl.txt"
[ "${MANAGED:-0}" = 0 ] || exit 0 # each test has made a namespace of its own format
# blocks of a mapping unit's size
in-apps nvme format "/dev/${ctrl}n1" --lbaf=4 --force >"$OUT/format.txt" 2>&1
run nvme_writeuncor_test nvme_writeuncor_4k_test
