// SPDX-License-Identifier: GPL-2.0-or-later
/* port_md5.c - port.h in user space: the hash engine, by libgcrypt */
#include <gcrypt.h>

#include "port.h"

/* Prepare libgcrypt, unless the program uses it itself and has done so already. */
static void prepare(void)
{
	if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P))
		return;
	gcry_control(GCRYCTL_NO_FIPS_MODE, 0);	/* MD5 is not used for protection here, and FIPS mode refuses it */
	SSD_ASSERT(gcry_check_version(GCRYPT_VERSION));
	gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

void ssd_md5(const void *data, size_t len, uint8_t out[16])
{
	prepare();
	gcry_md_hash_buffer(GCRY_MD_MD5, out, data, len);
}
