# SPDX-License-Identifier: MIT OR Apache-2.0
"""What tests share."""

from pathlib import Path

import pytest

# A program of its own, which needs an MPI library where it is run.
collect_ignore = ["mpi_sweep.py"]

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def examples():
    """The repository's example files."""
    return ROOT / "examples"
