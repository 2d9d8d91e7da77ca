/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programs.h - the core's tests that run in a kernel: test_NAME.c and the words of its
 * command line. Each is a suite core-NAME. With "-n" a test does less than in a process,
 * and where it asks test_times() it does `percent` % (a parameter of the module): the
 * processor is an emulated one. docs/kunit.md says which tests are not here, and why.
 */
PROGRAM(rules, "")
PROGRAM(fault, "")
PROGRAM(timing, "")
PROGRAM(subpage, "")
PROGRAM(level, "")
PROGRAM(model, "-n 200")
PROGRAM(cut, "-n 10")
PROGRAM(papers, "")
PROGRAM(abilities, "")
PROGRAM(fxp, "")
PROGRAM(link, "")
PROGRAM(power_cycles, "")
PROGRAM(pairs, "")
PROGRAM(rps, "")
PROGRAM(pen_plan, "-n 30")
PROGRAM(xmatch, "-n 10")
PROGRAM(fpstore, "-n 3")
PROGRAM(storm, "-n 1500")
PROGRAM(dac, "")
PROGRAM(dac_loss, "")
PROGRAM(dac_flex, "")
PROGRAM(direct, "")
PROGRAM(superblock, "")
PROGRAM(nftl, "")
