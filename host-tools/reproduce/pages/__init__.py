# SPDX-License-Identifier: GPL-2.0-or-later
"""From rows to pages: tables, pictures, and the summary of all claims."""
