#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fio-judge.sh PROGRAM [ARGUMENT...] - in the guest with the image of applications (docs/judges.md): run one of fio's
# judges of a drive, a Python program of its folder t/, which came with --file beside fiotestlib.py and
# fiotestcommon.py. FIO: another fio than the guest's. DUT: the drive (/dev/ng0n1). LBAF: its format is changed to this
# one first. judge.txt has the output.
#
# The judges call nvme by sudo. The guest has no sudo, and its programs run as root.
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
