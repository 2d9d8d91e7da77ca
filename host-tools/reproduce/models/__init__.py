# SPDX-License-Identifier: GPL-2.0-or-later
"""Drives beside mathematics and data sheets: the models of write amplification, and the tables that use them."""
