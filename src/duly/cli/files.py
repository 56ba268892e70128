"""Files of schedules: what they hold, and where each schedule stands, so that a refusal can say it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from duly.core.errors import Invalid

from .failing import Refused
from .formats import SUFFIXES, Unreadable, read_documents
from .inputs import read_text

STDIN = "-"


@dataclass(frozen=True, slots=True)
class Entry:
    """One schedule: the body of a REST create, the file it is in, and its number there, from 1."""

    file: str
    number: int
    body: dict[str, Any]

    @property
    def key(self) -> str:
        return str(self.body.get("key") or f"schedule {self.number}")

    @property
    def place(self) -> str:
        return f"{self.file} (schedule {self.number})"


@dataclass(slots=True)
class Files:
    """Everything that was read; ``set`` is the name that the files themselves give."""

    entries: list[Entry] = field(default_factory=list)
    sets: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @property
    def set(self) -> str | None:
        return next(iter(self.sets), None)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [entry.body for entry in self.entries]


def read_files(names: Sequence[str]) -> Files:
    """Read files, folders and stdin; refuse with everything that is wrong so far."""
    found = Files()
    for file in dict.fromkeys(file for name in names for file in _files_of(name)):
        shown = "stdin" if file == STDIN else file
        try:
            documents = read_documents(read_text("--file", file), file)
            if not documents:
                raise Unreadable("it is empty; expected schedules")
            for document in documents:
                _take(found, shown, document)
        except Unreadable as error:
            found.wrong.append(f"{shown}: {error}")
    _check_sets(found)
    _check_keys(found)
    refuse_together(found.wrong)
    return found


@contextmanager
def told_by_file(files: Files) -> Iterator[None]:
    """Let a refusal name file, key and field, where the API names places in a body; all of them."""
    try:
        yield
    except Invalid as error:
        errors = error.details.get("errors")
        if not errors:
            raise
        refuse_together([_line(files, found) for found in errors])


def refuse_together(wrong: Sequence[str]) -> None:
    if len(wrong) == 1:
        raise Refused(wrong[0], "nothing was changed")
    if wrong:
        raise Refused(f"{len(wrong)} things are wrong, and nothing was changed:", lines=wrong)


def _files_of(name: str) -> list[str]:
    if name == STDIN or not Path(name).is_dir():
        return [str(Path(name))]  # ./a.yaml and a.yaml are one file
    inside = [
        path
        for path in sorted(Path(name).rglob("*"))
        if path.suffix in SUFFIXES
        and path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(name).parts)
    ]
    if not inside:
        raise Refused(f"folder {name} holds no files of schedules", f"expected some of *{', *'.join(SUFFIXES)}")
    return [str(path) for path in inside]


def _take(found: Files, file: str, document: Any) -> None:
    """The schedules of a document: one object, a list, or an object with a list under ``schedules``."""
    schedules = [document]
    if isinstance(document, list):
        schedules = document
    elif isinstance(document, dict) and "schedules" in document:
        schedules = document["schedules"]
        strange = sorted(document.keys() - {"schedules", "set"})
        if strange or not isinstance(schedules, list):
            told = f"{strange[0]!r} is not known" if strange else "'schedules' is not a list"
            raise Unreadable(f"{told}; expected a list of schedules, and perhaps the name of their set")
        if document.get("set") is not None:
            found.sets.setdefault(str(document["set"]), file)
    for body in schedules:
        number = 1 + sum(entry.file == file for entry in found.entries)
        entry = Entry(file, number, body if isinstance(body, dict) else {})
        if not isinstance(body, dict):
            found.wrong.append(f"{entry.place} is {body!r}; expected an object, the body of a REST create")
        elif not isinstance(body.get("key"), str) or not body["key"]:
            found.wrong.append(f"{entry.place} has no key; it is known by it, so give it one")
        found.entries.append(entry)


def _check_sets(found: Files) -> None:
    if len(found.sets) > 1:
        told = " and ".join(f"{name!r} in {file}" for name, file in found.sets.items())
        found.wrong.append(f"the files name several sets, {told}; apply one set at a time")


def _check_keys(found: Files) -> None:
    first: dict[tuple[str, str], Entry] = {}
    for entry in found.entries:
        if isinstance(entry.body.get("key"), str):
            metadata = entry.body.get("metadata")
            tenant = str(metadata.get("tenantId")) if isinstance(metadata, dict) else ""
            before = first.setdefault((tenant, entry.key), entry)
            if before is not entry:
                found.wrong.append(f"key {entry.key!r} is in {before.place} and in {entry.place}; rename one")


def _line(files: Files, found: dict[str, Any]) -> str:
    """``/schedules/3/catchUp/policy`` as file, key and field."""
    head, *rest = str(found.get("pointer", "")).strip("/").split("/")
    if head != "schedules" or not rest or not rest[0].isdigit() or int(rest[0]) >= len(files.entries):
        return str(found["detail"])
    entry = files.entries[int(rest[0])]
    words = [entry.file, entry.key, ".".join(rest[1:])]
    return ": ".join([*filter(None, words), str(found["detail"])])
