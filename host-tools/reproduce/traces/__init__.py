# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces: made ones (standin, mix, and how they are fitted), real ones, and recordings of programs."""
