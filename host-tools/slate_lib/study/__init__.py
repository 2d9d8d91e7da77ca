# SPDX-License-Identifier: GPL-2.0-or-later
"""'slate study': a question in one file, answered by runs with error bars.

file.py reads the question: axes, points, measures. jobs.py turns a point into a command and into its INPUTS, whose
hash names the result. store.py keeps results by that hash. pool.py and cluster.py execute the jobs whose results are
not there. figures.py reads measures from results, stats.py computes intervals, outputs.py writes tables and the page.
command.py is the command, and arguments.py has its options. A module imports only those named before it.
"""
