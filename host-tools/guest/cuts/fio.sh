#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# fio.sh: fio writes to the drive itself, in rounds of 16 to 79 writes and a flush. A round has a MiB of its own. fio
# saves its state (verify_state_save), and the announcement has it, because a file in the guest does not survive the
# cut. The check gives each round's state back (verify_state_load), and fio verifies the writes that the state says are
# done. Its name in the guest says what it does: make, work or check.
#
#: variants RW. RW: write randwrite
#
# What is promised (NVM Command Set, Flush; fio's HOWTO: end_fsync, verify_state_save):
#
#   write, randwrite   a write that ended before a flush was sent is durable when the flush has ended
mib=1048576 state=local-r-0-verify.state

round() # N FIO'S WORDS - in the current folder, which has the state
{
	n=$1
	shift
	fio --name=r --filename="$SLATE_DEV" --offset=$((n * mib)) --size=$mib --rw="$CUTS_VARIANT" --bsrange=4k-16k \
		--number_ios=$((16 + n * 37 % 64)) --randseed="$((CUTS_SEED + n))" --direct=1 --ioengine=libaio --iodepth=8 \
		--verify=crc32c --output=said "$@"
}

mkdir -p /run/round && cd /run/round || exit 4
case ${0##*/} in
make)
	;; # the rounds write the drive itself
work)
	rounds=$(($(cat "/sys/block/${SLATE_DEV##*/}/size") / 2048 - 1))
	n=0
	while [ "$n" -lt "$rounds" ]; do
		n=$((n + 1))
		round $n --do_verify=0 --verify_state_save=1 --end_fsync=1 || { cat said; exit 4; }
		slate-mark durable "$n" "$(gzip -c $state | base64 | tr -d '\n')" || exit 4
	done
	;;
check)
	while read -r n saved; do
		echo "$saved" | base64 -d | gzip -dc >$state || exit 4
		round "$n" --verify_only --verify_state_load=1 --verify_fatal=1 || { echo "round $n"; tail -n 20 said; exit 1; }
	done <"$DURABLE"
	;;
esac
