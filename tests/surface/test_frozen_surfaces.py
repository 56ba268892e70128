"""The program has the committed public surface, which covers DESIGN.md and every import path of the docs."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

import pytest

from duly.api.routes import ROUTES
from duly.config.options import OPTIONS
from tests.surface import files, imports, interfaces
from tests.surface.diff import differences, report

derive = cache(files.derive)
FIXED = interfaces.read()


@pytest.mark.parametrize("surface", files.SURFACES)
def test_the_surface_is_as_committed(surface: str) -> None:
    found = [*differences({surface: files.read(surface)}, {surface: derive(surface)})]
    if found:
        intended = "If the change is intended, run scripts/surface --write and commit the files."
        pytest.fail("\n".join(["The public surface has changed.", *report(found), intended]), pytrace=False)


@pytest.mark.parametrize("surface", files.SURFACES)
def test_a_committed_file_is_sorted_and_formatted(surface: str) -> None:
    text = files.file_of(surface).read_text("utf-8")
    assert text == files.render(json.loads(text)) + "\n"


def test_every_file_is_a_surface_or_the_interfaces() -> None:
    assert {file.stem for file in files.FOLDER.glob("*.json")} == {*files.SURFACES, interfaces.FILE.stem}


def _values(surface: str, *names: str) -> int:
    """Count the values that all entries of a surface have under these names, such as ``body field``."""
    count = 0
    for tree in derive(surface).values():
        for name in names:
            tree = tree.get(name, {}) if isinstance(tree, dict) else {}
        count += len(tree)
    return count


def _named(surface: str, start: str = "") -> int:
    return sum(name.startswith(start) for name in derive(surface))


OPERATIONS = [f"{method} /api/v1/" for method in ("DELETE", "GET", "PATCH", "POST", "PUT")]


@pytest.mark.parametrize(
    "what, least, count",
    [
        ("operations", 79, lambda: sum(_named("rest", start) for start in OPERATIONS)),
        ("body fields", 340, lambda: _values("rest", "body", "field")),
        ("response fields", 1400, lambda: sum(_values("rest", f"response {n}", "field") for n in (200, 201, 202))),
        ("response headers", 90, lambda: sum(_values("rest", f"response {n}", "header") for n in (200, 201, 202, 204))),
        ("query parameters", 79, lambda: _values("rest", "query parameter")),
        ("problem codes", 52, lambda: _named("rest", "problem ")),
        ("paths beside the API", 40, lambda: _named("rest", "path ")),
        ("commands", 94, lambda: _named("cli", "duly")),
        ("flags and arguments", 900, lambda: _values("cli")),
        ("Python names", 1450, lambda: _named("python")),
        ("names of duly itself", 400, lambda: _named("python", "duly.")),
        ("parameters", 1500, lambda: _values("python", "parameter")),
        ("methods of an app", 110, lambda: _named("python", "app.")),
        ("methods of app.sync", 100, lambda: _named("python", "app.sync.")),
        ("methods of a client", 90, lambda: _named("python", "client.")),
        ("errors", 45, lambda: _named("python", "error ")),
        ("settings", 65, lambda: len(OPTIONS)),
        ("metrics", 30, lambda: _named("metrics", "duly_")),
        ("labels", 15, lambda: _values("metrics", "label")),
        ("event types", 17, lambda: _named("events", "type ")),
        ("messages", 18, lambda: _named("messages")),
        ("words of messages", 280, lambda: _values("messages", "body") + _values("messages", "header")),
    ],
)  # fmt: skip
def test_the_extraction_finds_at_least(what: str, least: int, count: Callable[[], int]) -> None:
    assert count() >= least, what


def test_operations_and_settings_are_those_of_the_program() -> None:
    assert sum(_named("rest", start) for start in OPERATIONS) == len(ROUTES)
    assert derive("settings").keys() >= OPTIONS.keys()


@pytest.mark.parametrize("surface", FIXED)
def test_fixed_interfaces_are_in_the_surface(surface: str) -> None:
    found = report([*interfaces.lost({surface: FIXED[surface]}, {surface: derive(surface)})])
    if found:
        pytest.fail("\n".join(["An interface that DESIGN.md fixes has changed.", *found]), pytrace=False)


def test_no_fixed_interface_is_left_out() -> None:
    assert interfaces.count(FIXED) >= 1687


def test_every_import_path_of_pages_and_examples_is_frozen() -> None:
    frozen = files.read("python")
    paths = sorted(f"{module}.{name}" for module, names in imports.used().items() for name in names if name)
    assert [path for path in paths if path not in frozen] == []
    assert len(paths) >= 44
    assert len(imports.sources()) >= 45


@pytest.mark.parametrize("module", imports.REQUIRED)
def test_a_module_that_stays_public_has_frozen_names(module: str) -> None:
    names = imports.exported(module)
    assert names
    assert {f"{module}.{name}" for name in names} <= files.read("python").keys()


def test_imports_are_found_in_every_form() -> None:
    text = """
    >>> from duly import Cron, Every as E  # a comment
    from duly.testing import (
        ManualClock,  # moves when told
        travel,
    )
    app = duly.Duly(); duly.client.Client("http://x"); plugins = ["duly.testing.plugin"]; file = "duly.toml"
    """
    assert [*imports.imported(text)] == [
        ("duly", "Cron"), ("duly", "Every"), ("duly.testing", "ManualClock"), ("duly.testing", "travel"),
    ]  # fmt: skip
    assert [*imports.named(text)] == [
        ("duly.testing", ""), ("duly", "Duly"), ("duly.client", "Client"), ("duly.testing.plugin", ""),
    ]  # fmt: skip
