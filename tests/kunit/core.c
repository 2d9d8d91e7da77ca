// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * core.c - runs the core's tests (tests/core) as suites of KUnit. It has the functions that test.h
 * calls when a case begins and ends.
 *
 * A program of tests/core is a suite, and each RUN or RUN_AS of its main() is a case. When the module
 * is loaded, main() is called once to list the cases: test_begins() notes the name and returns false,
 * so that the case does not run. Later KUnit calls run_case() for each case. It calls main() again, and
 * test_begins() returns true for this case alone. Static variables of a program keep their values from
 * case to case, as in a process, unless an assertion ended a case.
 *
 * One thread runs all of this, and loading the module returns when it is done.
 *
 * Stack. A kernel thread has a stack of 16 KiB, and the tests keep models of a drive on theirs. So
 * main() runs on a stack of its own, from vmalloc() with guard pages. core_case_ends(), which ends a
 * case early, leaves that stack at once, and the next case begins at its top.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "core.h"
#include "libc.h"
#include "suite.h"
#include "test.h"

#define CASES_MAX 200u
#define WORDS_MAX 8
#define STACK_BYTES (256u << 10)

static uint percent = 2;
module_param(percent, uint, 0444);
MODULE_PARM_DESC(percent, "how much of what a process does where a test asks: 100 takes minutes");
static char *only = "";
module_param(only, charp, 0444);
MODULE_PARM_DESC(only, "the one program to run, as in programs.h");

#define PROGRAM(name, words, skipped) int slate_test_##name(int argc, char **argv);
#include "programs.h"
#undef PROGRAM

static const struct program {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *words, *skipped;
} programs[] = {
#define PROGRAM(name, words, skipped) { #name, slate_test_##name, words, skipped },
#include "programs.h"
};

struct kunit *core_case;

static const struct program *program;
static struct kunit_case cases[CASES_MAX + 1];	/* the cases of the program under test */
static uint count;				/* number of cases; while main() runs: RUNs so far */
static uint chosen;				/* number of the case to run */
static char *stack;
static jmp_buf out;				/* returns from a case to where it was started */

/* ---- functions that test.h needs --------------------------------------------------- */

static void run_case(struct kunit *test);

bool test_begins(const char *name)
{
	if (core_case)
		return count++ == chosen;
	if (WARN_ON(count == CASES_MAX))
		return false;
	cases[count].name = kstrdup(name, GFP_KERNEL);
	cases[count].run_case = run_case;
	count++;
	return false;
}

void test_ends(const char *name, int new_failures)
{
	libc_end();
	if (new_failures)
		KUNIT_FAIL(core_case, "%d expectations of %s were not met", new_failures, name);
}

uint32_t test_times(uint32_t n)
{
	uint32_t some = (uint32_t)((u64)n * percent / 100);

	return some ? some : 1;
}

/* ---- running ------------------------------------------------------------------------ */

static __used noinline int call_main(void)
{
	static char words[128], *argv[WORDS_MAX + 1];
	char *rest = words;
	int argc = 0;

	strscpy(words, program->words, sizeof(words));
	argv[argc++] = (char *)program->name;
	while (rest && *rest && argc < WORDS_MAX)
		argv[argc++] = strsep(&rest, " ") ?: "";
	argv[argc] = NULL;
	count = 0;
	failures = 0;
	libc_begin();
	return program->main(argc, argv);
}

/* Run call_main() on the other stack. */
static noinline int call_main_there(void)
{
	int result;

	asm volatile("movq %%rsp, %%rbx\n\t"
		     "movq %[top], %%rsp\n\t"
		     "call call_main\n\t"
		     "movq %%rbx, %%rsp"
		     : "=a"(result)
		     : [top] "r"(stack + STACK_BYTES)
		     : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory");
	return result;
}

void core_case_ends(int status)
{
	if (!core_case)
		panic("%s ended while its cases were being listed", program->name);
	KUNIT_FAIL(core_case, "%s called exit(%d)", program->name, status);
	longjmp(out, 1);
}

static bool is_skipped(const char *name)
{
	const char *at = strstr(program->skipped, name);
	size_t len = strlen(name);

	return percent < 100 && at && (at == program->skipped || at[-1] == ' ') && (!at[len] || at[len] == ' ');
}

static void run_case(struct kunit *test)
{
	if (is_skipped(test->name)) {
		kunit_mark_skipped(test, "it takes seconds even in a process: percent=100 runs it");
		return;
	}
	for (chosen = 0; cases[chosen].name != test->name; chosen++)
		;
	core_case = test;
	if (!setjmp(out)) {
		KUNIT_EXPECT_EQ(test, call_main_there(), failures ? 1 : 0);
		KUNIT_EXPECT_GT_MSG(test, count, chosen, "main() did not come to this case");
	}
	core_case = NULL;
	cond_resched();
}

static void run_program(const struct program *p)
{
	struct kunit_suite *suite = kzalloc(sizeof(*suite), GFP_KERNEL);

	if (WARN_ON(!suite))
		return;
	memset(cases, 0, sizeof(cases));
	program = p;
	core_case = NULL;
	snprintf((char *)suite->name, sizeof(suite->name), "core-%s", p->name);
	suite->test_cases = cases;
	if (call_main_there())
		pr_err("# %s does not list its cases\n", suite->name);
	suite_run(suite);
	for (uint i = 0; cases[i].name; i++)
		kfree(cases[i].name);
	kfree(suite);
}

static int __init core_init(void)
{
	stack = vmalloc(STACK_BYTES);
	if (!stack)
		return -ENOMEM;
	for (uint i = 0; i < ARRAY_SIZE(programs); i++)
		if (!*only || !strcmp(only, programs[i].name))
			run_program(&programs[i]);
	vfree(stack);
	return 0;
}

static void __exit core_exit(void)
{
}

module_init(core_init);
module_exit(core_exit);
MODULE_DESCRIPTION("the core's tests under KUnit");
MODULE_LICENSE("GPL");
