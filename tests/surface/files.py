"""Reads, derives and writes the frozen surfaces: one JSON file for each."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.surface import cli, events, messages, metrics, python, rest, settings
from tests.surface.diff import Tree

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
WIDTH = 118

SURFACES: Mapping[str, Callable[[], Tree]] = {
    "cli": cli.derive,
    "events": events.derive,
    "messages": messages.derive,
    "metrics": metrics.derive,
    "python": python.derive,
    "rest": rest.derive,
    "settings": settings.derive,
}


def file_of(surface: str) -> Path:
    return FOLDER / f"{surface}.json"


def derive(surface: str) -> Tree:
    """Return the surface of the program, in plain JSON values."""
    tree: Tree = json.loads(json.dumps(SURFACES[surface](), sort_keys=True))
    return tree


def read(surface: str) -> Tree:
    """Return the committed surface, or an empty tree if there is no file."""
    file = file_of(surface)
    tree: Tree = json.loads(file.read_text("utf-8")) if file.exists() else {}
    return tree


def read_at(revision: str) -> dict[str, Tree]:
    """Return the surfaces committed in a revision; raise ``LookupError`` if there are none."""
    folder = FOLDER.relative_to(ROOT).as_posix()
    paths = _git("ls-tree", "--name-only", revision, f"{folder}/").split()
    found = {Path(path).stem: path for path in paths if path.endswith(".json")}
    if not found:
        raise LookupError(f"{revision} has no frozen surfaces; expected JSON files in {folder}/")
    return {name: json.loads(_git("show", f"{revision}:{path}")) for name, path in found.items()}


def read_here() -> dict[str, Tree]:
    """Return the surfaces in the working tree."""
    return {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.json"))}


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LookupError(done.stderr.strip())
    return done.stdout


def write(surface: str) -> bool:
    """Write the surface of the program to its file; return whether the file changed."""
    text = render(derive(surface)) + "\n"
    file = file_of(surface)
    if file.exists() and file.read_text("utf-8") == text:
        return False
    file.write_text(text, "utf-8")
    return True


def render(value: object, indent: int = 0, used: int = 0) -> str:
    """Return JSON with sorted names; an object or a list that fits is written on one line."""
    line = json.dumps(value, sort_keys=True, ensure_ascii=False)
    if not isinstance(value, dict | list) or not value:
        return line
    nested = isinstance(value, dict) and any(isinstance(item, dict) for item in value.values())
    if indent and not nested and indent + used + len(line) < WIDTH:
        return line
    inside = " " * (indent + 1)
    if isinstance(value, list):
        return (
            "[\n"
            + "\n".join(_filled([json.dumps(item, ensure_ascii=False) for item in value], inside))
            + f"\n{' ' * indent}]"
        )
    names = {name: json.dumps(name, ensure_ascii=False) for name in sorted(value)}
    items = [f"{inside}{text}: {render(value[name], indent + 1, len(text) + 2)}" for name, text in names.items()]
    return "{\n" + ",\n".join(items) + f"\n{' ' * indent}}}"


def _filled(items: list[str], inside: str) -> list[str]:
    """Fill each line with as many items as fit."""
    lines: list[str] = []
    for item, comma in zip(items, [","] * (len(items) - 1) + [""], strict=True):
        if lines and len(lines[-1]) + len(item) + 2 < WIDTH:
            lines[-1] += f" {item}{comma}"
        else:
            lines.append(f"{inside}{item}{comma}")
    return lines
