# SPDX-License-Identifier: GPL-2.0-or-later
"""Declares the arguments of 'slate study'. It imports nothing that takes time, so that other commands start quickly."""

from __future__ import annotations

from ..commands import Option

EXAMPLES = """\
examples:
  slate study gc-policies --dry-run           how many runs, how many are known, how long the others take
  slate study my.toml                         all of them, on every processor; then tables, charts, a page
  slate study my.toml --until p99:2%          more seeds, until every interval of p99 is within 2 % of its mean
  slate study my.toml --executor slurm        on a cluster
  slate study my.toml --export my.results     its results in one file; elsewhere: --import my.results
"""
MOST_SEEDS = 100


OPTIONS = (
    Option("study", "FILE", "a study's file, or the name of a shipped study", count="?"),
    Option("--dry-run", about="only say what would run, and for how long"),
    Option("--out", "DIR", "where tables, charts and the page go (default: out/study-NAME)"),
    Option("--pages", about="also write a page for each run, to which the study's page links"),
    Option("--jobs", "N", "runs at once (default: one for each processor, as memory allows)"),
    Option("--until", "MEASURE:PCT%", "add seeds until half of each interval of the measure is within so many per cent "
           "of its centre"),
    Option("--most", "N", f"with --until: seeds at most (default {MOST_SEEDS})"),
    Option("--executor", "NAME", "run by Snakemake's executor of that name, such as slurm"),
    Option("--export", "FILE", "then write the study's results to one file"),
    Option("--import", "FILE", "first take the study's results from such a file; one of a hundred is made again and "
           "compared"),
    Option("--job", "FILE", "execute one job of a study, as --executor's machines do"),
)  # fmt: skip
