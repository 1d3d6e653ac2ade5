"""What tests share."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def examples():
    """The repository's example files."""
    return ROOT / "examples"
