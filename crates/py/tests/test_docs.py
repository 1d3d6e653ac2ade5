# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the documentation shows is what happens, and the notebook runs from top to bottom."""

import ast
import doctest
import importlib.metadata
import inspect
import json
import os
import re

import corecast
import pytest
from conftest import ROOT


def test_the_reference_by_example(tmp_path, monkeypatch):
    text = (ROOT / "docs/python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks) > 8
    os.symlink(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    names = {"__name__": "docs"}
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), names, "docs/python.md", None, 0)
    lines = []
    runner = doctest.DocTestRunner(optionflags=flags, verbose=False)
    runner.run(test, out=lines.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(lines)
    assert {"timeline.pdf", "winners.svg", "bcast.toml"} <= set(os.listdir(tmp_path))


@pytest.mark.parametrize("path", ["README.md", "crates/py/README.md"])
def test_the_ten_lines_of_the_readme(path, tmp_path, monkeypatch, capsys):
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / path).read_text(), re.S)
    monkeypatch.chdir(tmp_path)
    exec(block, {"__name__": "__main__"})
    shown = capsys.readouterr().out
    assert "star" in shown and "False" not in shown
    assert (tmp_path / "timeline.pdf").read_bytes().startswith(b"%PDF-")


NOTEBOOKS = sorted((ROOT / "examples/notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.name for path in NOTEBOOKS])
def test_notebooks_run(path, tmp_path, monkeypatch):
    """As a notebook does: cells in one namespace, the last expression of each is shown."""
    notebook = json.loads(path.read_text())
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    shown = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        assert cell["outputs"] == [], "notebooks are kept without outputs"
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, path.name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), path.name, "eval"), names)
            if value is not None:
                assert getattr(value, "_repr_html_", value.__repr__)()
                shown += 1
    assert shown > 3


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 3


def test_every_error_is_in_the_reference():
    text = (ROOT / "docs/errors.md").read_text()
    for name in set(corecast.errors.__all__) - {"Error"}:
        assert f"| `{name}` |" in text, name


def documented():
    """Public functions, and methods of public classes, with what is to be read about them."""
    for name in corecast.__all__:
        thing = getattr(corecast, name)
        assert inspect.getdoc(thing), name
        if inspect.isfunction(thing):
            yield name, thing, inspect.getdoc(thing)
        for member, value in vars(thing).items() if inspect.isclass(thing) else ():
            if member.startswith("_"):
                continue
            function = value.__func__ if isinstance(value, classmethod) else value
            if isinstance(function, property) or inspect.isfunction(function):
                assert inspect.getdoc(function), f"{name}.{member}"
            if inspect.isfunction(function):
                # What all steps have in common is said once, at the class.
                shared = inspect.getdoc(thing) if name == "ScheduleBuilder" else ""
                yield f"{name}.{member}", function, f"{inspect.getdoc(function)} {shared}"


def test_every_argument_is_documented_and_so_are_errors():
    seen = 0
    for name, function, text in documented():
        arguments = [one for one in inspect.signature(function).parameters if one != "self"]
        missing = set(arguments) - set(re.findall(r"\w+", text)) - {"cls"}
        assert not missing, f"{name}: {missing}"
        if "." not in name and arguments:
            assert "Raises:" in text, name
            seen += 1
    assert seen > 12


def test_the_wheel_has_licences_and_a_description():
    about = importlib.metadata.metadata("corecast")
    assert about.get_all("License-File") == ["LICENSE-APACHE", "LICENSE-MIT"]
    assert about["License-Expression"] == "MIT OR Apache-2.0"
    text = about.get_payload() or about["Description"]
    assert text.strip() == (ROOT / "crates/py/README.md").read_text().strip()
    for name in ("LICENSE-APACHE", "LICENSE-MIT"):
        (kept,) = [one for one in importlib.metadata.files("corecast") if one.name == name]
        assert kept.read_text() == (ROOT / name).read_text()
