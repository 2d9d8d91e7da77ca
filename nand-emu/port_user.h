/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * port_user.h - the effect of a failed assertion in user space. By default it ends the program. A
 * shell that uses a drive file from another program sets ssd_guard during each call of the core; a
 * failed assertion then jumps back to the shell's setjmp(), and the core's memory must not be used
 * any more.
 */
#ifndef SLATE_PORT_USER_H
#define SLATE_PORT_USER_H

#include <setjmp.h>

struct ssd_guard {
	jmp_buf back;
};

extern _Thread_local struct ssd_guard *ssd_guard;	/* NULL: none */

#endif
