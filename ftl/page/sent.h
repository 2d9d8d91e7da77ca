/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sent.h - SSDSim's accounting: ends a write with its last data transfer (sent.c) */
#ifndef SLATE_PAGE_SENT_H
#define SLATE_PAGE_SENT_H

#include "page_state.h"

/* Does the I/O end when its data have been transferred? */
bool ends_when_sent(const struct page_ftl *f, const struct ftl_io *io);
/* All of the write has been accepted: it now waits for its last page to be issued. */
void sent_wait(struct page_ftl *f, struct ftl_io *io);
/* Command c programs log page seq for the first time: note its transfer, and end the writes whose last page it is. */
void sent_page(struct page_ftl *f, uint64_t now_ns, uint64_t seq, const struct nand_cmd *c);

#endif
