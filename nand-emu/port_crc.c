// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * port_crc.c - port.h in user space: CRC-32C, by Intel's ISA-L, which chooses the fastest way that the
 * processor has when it is first called (AVX-512, SSE4.2, a table).
 */
#include <isa-l/crc.h>

#include "port.h"

uint32_t ssd_crc32c(const void *data, uint32_t len)
{
	/* It only reads, and its parameter is not const. */
	return ~crc32_iscsi((unsigned char *)(uintptr_t)data, (int)len, UINT32_MAX);
}
