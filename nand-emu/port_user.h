/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port_user.h - what a failed assertion does in user space. By default it ends the program. A
 * shell that calls the core on a drive from outside sets ssd_guard for the time of the call, and
 * the assertion then returns to its setjmp(): the core's memory must not be used any more.
 */
#ifndef SLATE_PORT_USER_H
#define SLATE_PORT_USER_H

#include <setjmp.h>

struct ssd_guard {
	jmp_buf back;
};

extern _Thread_local struct ssd_guard *ssd_guard;	/* NULL: none */

#endif
