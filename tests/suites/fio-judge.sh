#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fio-judge.sh PROGRAM [ARGUMENT...] - run in the guest, with the image of applications, one of fio's own tests of a
# drive (docs/results/judges.md): PROGRAM is a Python program of fio's folder t/, which --file brought, with fiotestlib.py and
# fiotestcommon.py. FIO names another fio than the guest's. DUT is the drive to test (default /dev/ng0n1). If LBAF is
# set, the drive is first formatted with this LBA format. judge.txt has the output.
#
# These programs call nvme by sudo. The guest has no sudo, and its programs run as root, so a script takes sudo's place.
program=$1
shift
dut=${DUT:-/dev/ng0n1}
[ -z "$LBAF" ] || nvme format "/dev/nvme${dut#/dev/ng}" --lbaf="$LBAF" --force || exit 1
in-apps true || exit 1
folder=/run/apps/tmp/judge
mkdir -p $folder/t $folder/bin
cp /job/*.py $folder/t
cp "${FIO:-$(command -v fio)}" $folder/fio || exit 1
printf '#!/bin/sh\nexec "$@"\n' >$folder/bin/sudo
chmod +x $folder/bin/sudo $folder/fio
# shellcheck disable=SC2016 # the inner shell expands it
in-apps sh -c '
cd /tmp/judge && PATH=$PWD/bin:$PATH && export PATH
nvme version && ./fio --version
program=$1
shift
exec python3 "t/$program" -f ./fio -a artifacts "$@"
' sh "$program" --dut "$dut" "$@" >"$OUT/judge.txt" 2>&1
status=$?
tail -n 2 "$OUT/judge.txt"
exit $status
