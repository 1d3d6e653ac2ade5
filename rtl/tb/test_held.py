# SPDX-License-Identifier: MIT OR Apache-2.0
"""What has held is not said of other sources."""

import pytest

from held import READ, sources, still_holds


@pytest.fixture
def tree(tmp_path):
    for pattern in READ:
        path = tmp_path / pattern.replace("*", "a")
        path.parent.mkdir(exist_ok=True)
        path.write_text("before")
    return tmp_path


def recorded(tree):
    return {"sources": sources(tree), "said": {"lint": "clean"}}


def test_a_verdict_is_said_until_any_source_changes(tree):
    record = recorded(tree)
    assert still_holds("lint", record, tree) == "clean"
    assert still_holds("soak", record, tree) is None
    for pattern in READ:
        path = tree / pattern.replace("*", "a")
        path.write_text("behind")
        assert still_holds("lint", record, tree) is None
        path.write_text("before")
        path.rename(path.with_suffix(".b"))
        assert still_holds("lint", record, tree) is None
        path.with_suffix(".b").rename(path)
    (tree / "src" / "b.sv").touch()
    assert still_holds("lint", record, tree) is None


def test_what_else_lies_there_does_not_matter(tree):
    record = recorded(tree)
    (tree / "README.md").write_text("new")
    assert still_holds("lint", record, tree) == "clean"
