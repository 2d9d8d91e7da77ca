/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * programs.h - the core's tests that run in a kernel, each as a suite core-NAME. A row has the NAME of test_NAME.c, the
 * words of its command line, and the cases that are skipped in a kernel, because they take seconds even in a process.
 *
 * The processor of the kernel is an emulated one. So "-n" lets a test do less than in a process, and where a test asks
 * test_times() it does `percent` % (a parameter of the module; from 100 on nothing is skipped).
 *
 * These tests are missing: profile, control, power and sanitize test libslate; file and kill_points need mmap, fork,
 * kill or ptrace; odd and the power-cut sweeps of direct take minutes; three cases of fxp and abilities use floating
 * point; choices tests what all others use, too.
 */
PROGRAM(rules, "", "")
PROGRAM(fault, "", "either_erase_of_a_pair_may_fail")
PROGRAM(timing, "", "")
PROGRAM(ftl_timing, "", "planes_take_turns_in_gc")
PROGRAM(gc_planes, "", "")
PROGRAM(subpage, "", "")
PROGRAM(level, "", "")
PROGRAM(map, "", "another_cache_after_each_cut without_payload")
PROGRAM(model, "-n 60", "")
PROGRAM(cut, "-n 4", "")
PROGRAM(papers, "", "")
PROGRAM(abilities, "", "")
PROGRAM(wear, "", "blocks_wear_out")
PROGRAM(fxp, "", "")
PROGRAM(heat, "", "")
PROGRAM(link, "", "")
PROGRAM(suspend, "", "")
PROGRAM(plane_reads, "", "")
PROGRAM(controller, "", "random_reads_end_as_in_the_model")
PROGRAM(power_cycles, "", "")
PROGRAM(pairs, "", "")
PROGRAM(rps, "", "")
PROGRAM(rps_power, "", "")
PROGRAM(pen_plan, "-n 30", "")
PROGRAM(xmatch, "-n 10", "")
PROGRAM(fpstore, "-n 3", "")
PROGRAM(storm, "-n 400", "")
PROGRAM(dac, "", "the_worst_case_fits")
PROGRAM(dac_loss, "", "torn_erases pages_that_cannot_be_read")
PROGRAM(dac_flex, "", "")
PROGRAM(direct, "", "")
PROGRAM(superblock, "", "disturbance odd_drives")
PROGRAM(nftl, "", "")
PROGRAM(zns, "-n 20", "")
