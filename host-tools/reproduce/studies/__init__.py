# SPDX-License-Identifier: GPL-2.0-or-later
"""What a user starts: a paper's study (run), and studies of causes, scales, recordings and guests."""
