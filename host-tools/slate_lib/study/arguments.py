# SPDX-License-Identifier: GPL-2.0-or-later
"""Declares the arguments of 'slate study'. It imports nothing of the package, so that other commands start quickly."""

from __future__ import annotations

import argparse

EXAMPLES = """\
examples:
  slate study gc-policies --dry-run           how many runs, how many are known, how long the others take
  slate study my.toml                         all of them, on every processor; then tables, charts, a page
  slate study my.toml --until p99:2%          more seeds, until every interval of p99 is within 2 % of its mean
  slate study my.toml --executor slurm        on a cluster
  slate study my.toml --export my.results     its results in one file; elsewhere: --import my.results
"""
MOST_SEEDS = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of 'slate study'."""
    parser.add_argument("study", nargs="?", metavar="FILE", help="a study's file, or the name of a shipped study")
    parser.add_argument("--dry-run", action="store_true", help="only say what would run, and for how long")
    parser.add_argument("--out", metavar="DIR", help="where tables, charts and the page go (default: out/study-NAME)")
    parser.add_argument("--jobs", metavar="N", help="runs at once (default: one for each processor, as memory allows)")
    parser.add_argument(
        "--until", metavar="MEASURE:PCT%",
        help="add seeds until half of each interval of the measure is within so many per cent of its centre",
    )  # fmt: skip
    parser.add_argument("--most", metavar="N",
                        help=f"with --until: seeds at most (default {MOST_SEEDS})")  # fmt: skip
    parser.add_argument("--executor", metavar="NAME", help="run by Snakemake's executor of that name, such as slurm")
    parser.add_argument("--export", metavar="FILE", help="then write the study's results to one file")
    parser.add_argument(
        "--import", metavar="FILE", dest="take",
        help="first take the study's results from such a file; one of a hundred is made again and compared",
    )  # fmt: skip
    parser.add_argument("--job", metavar="FILE", help="execute one job of a study, as --executor's machines do")
