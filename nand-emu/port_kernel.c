// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * port_kernel.c - what port.h leaves to the environment, in a Linux kernel: MD5 by the kernel's
 * crypto library, CRC-32C, and the popcount function that gcc's code calls.
 */
#include <linux/bitops.h>
#include <linux/err.h>

#include <crypto/hash.h>

#include "port.h"

/* Allocate MD5 at the first call, which may sleep. It is never freed. */
static struct crypto_shash *engine(void)
{
	static struct crypto_shash *md5;

	if (!md5) {
		md5 = crypto_alloc_shash("md5", 0, 0);
		SSD_ASSERT(!IS_ERR(md5));
	}
	return md5;
}

void ssd_md5(const void *data, size_t len, uint8_t out[16])
{
	SSD_ASSERT(len <= UINT32_MAX);
	SSD_ASSERT(!crypto_shash_tfm_digest(engine(), data, (unsigned int)len, out));
}

/* Compute the CRC-32C bit by bit: only tests need it, because drives in a kernel are not files. */
uint32_t ssd_crc32c(uint32_t crc, const void *data, uint32_t len)
{
	const uint8_t *at = data;

	crc = ~crc;
	for (uint32_t i = 0; i < len; i++) {
		crc ^= at[i];
		for (uint32_t bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

/* gcc calls this for __builtin_popcountll() where the processor may lack the instruction. */
int __popcountdi2(int64_t x);

int __popcountdi2(int64_t x)
{
	return (int)hweight64((uint64_t)x);
}
