// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * port_crc.c - port.h in user space: CRC-32C by Intel's ISA-L. At its first call ISA-L chooses the
 * fastest method of the processor (AVX-512, SSE4.2, a table).
 */
#include <isa-l/crc.h>

#include "port.h"

uint32_t ssd_crc32c(uint32_t crc, const void *data, uint32_t len)
{
	/* crc32_iscsi() only reads, although its parameter is not const. */
	return ~crc32_iscsi((unsigned char *)(uintptr_t)data, (int)len, ~crc);
}
