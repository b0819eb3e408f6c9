# SPDX-License-Identifier: BSD-3-Clause
"""The option --json of view, diff and plot."""
import json
import math

from .printable import discard_output


def add_json_option(parser):
    parser.add_argument("--json", action="store_true", help="one JSON value on standard output")


def finite_or_none(number):
    """JSON has no infinity and no not-a-number; they become null."""
    return float(number) if math.isfinite(float(number)) else None


def print_json(value):
    try:
        print(json.dumps(value, indent=2, allow_nan=False))
    except BrokenPipeError:
        discard_output()
