#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# fio: without refill_buffers all blocks that a job writes are nearly the same, though no two are equal.
#
# fio fills a buffer once, and then changes a few bytes in each 512 (scramble_buffers, the default). Of two neighbours of 4
# KiB, 4,000 bytes and more are equal at the same place. Each block alone is random, so that neither compression of
# blocks nor deduplication of whole ones shows it; compressed as one, the file shrinks to a fiftieth. What stores
# differences between blocks, or compresses many together, so looks far better than on data of users.
set -euo pipefail
. "$(dirname "$(realpath "$0")")/fio-of-debian"

cat >look.py <<'LOOK'
import lzma, sys

data = open(sys.argv[1], "rb").read()
blocks = [data[at : at + 4096] for at in range(0, len(data), 4096)]
equal = min(sum(a == b for a, b in zip(*pair)) for pair in zip(blocks, blocks[1:]))
alone = min(len(lzma.compress(block)) for block in blocks)
print("distinct", len(set(blocks)), "alone", alone > 3600, "neighbours", equal >= 4000,
      "together", len(lzma.compress(data)) < len(data) / 50)
LOOK
for refill in 0 1; do
	fio --name=job --filename="data-$refill" --size=2M --bs=4k --rw=write --ioengine=psync --refill_buffers="$refill" \
		--output=/dev/null
	python3 look.py "data-$refill" >"seen-$refill"
done
expect "default (nine tenths of each block stay alone; of neighbours 4,000 bytes are equal)" "$(cat seen-0)" \
	"distinct 512 alone True neighbours True together True"
expect "refill_buffers" "$(cat seen-1)" "distinct 512 alone True neighbours False together False"
