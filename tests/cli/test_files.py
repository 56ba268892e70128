"""Files of schedules: three formats, one meaning, and errors that say where."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duly.cli.failing import Refused
from duly.cli.files import read_files
from duly.cli.formats import Unreadable, read_documents
from duly.cli.portions import BYTES, MEMBERS, MOST, portions
from duly.cli.yaml import to_yaml
from tests.cli.conftest import Duly
from tests.cli.test_yaml import JSON

BODY = {"key": "k", "onceAt": "2099-03-15T14:00:00+00:00", "jobType": "j", "tags": ["a"]}
TOML = 'key = "k"\nonceAt = 2099-03-15T14:00:00Z\njobType = "j"\ntags = ["a"]\n'
YAML = "key: k\nonceAt: 2099-03-15T14:00:00+00:00\njobType: j\ntags: [a]\n"


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.json", json.dumps(BODY)),
        ("a.json", json.dumps([BODY])),
        ("a.json", json.dumps({"schedules": [BODY]})),
        ("a.toml", TOML),
        ("a.toml", f"[[schedules]]\n{TOML}"),
        ("a.yaml", YAML),
        ("a.yml", f"---\n{YAML}"),
        ("a.yaml", "schedules:\n- " + YAML.replace("\n", "\n  ")),
    ],
)
def test_each_format_says_the_same(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_files([name]).bodies == [BODY]


def test_folders_are_read_whole_and_in_order(tmp_path: Path) -> None:
    for name in ("b.json", "a/z.json", "a/b.toml", ".hidden/c.json", "a/.d.json", "notes.txt"):
        (tmp_path / "all" / name).parent.mkdir(parents=True, exist_ok=True)
        key = name.replace("/", "-").lstrip(".")
        text = f'key = "{key}"' if name.endswith("toml") else json.dumps({"key": key})
        (tmp_path / "all" / name).write_text(text)
    assert [entry.file for entry in read_files(["all", "./all/b.json"]).entries] == [
        "all/a/b.toml", "all/a/z.json", "all/b.json"
    ]  # fmt: skip


def test_a_file_may_hold_several_documents(tmp_path: Path) -> None:
    write(tmp_path, a_yaml="key: a\n---\n- key: b\n- key: c\n---\n")
    assert [(entry.key, entry.number) for entry in read_files(["a.yaml"]).entries] == [("a", 1), ("b", 2), ("c", 3)]


@pytest.mark.parametrize(
    "text, value",
    [
        ("at: 14:30", {"at": "14:30"}),
        ("on: off", {"on": "off"}),
        ("day: 2026-11-16", {"day": "2026-11-16"}),
        ("hour: 09", {"hour": 9}),
        ("mode: 0o17", {"mode": 15}),
        ("n: 010", {"n": 10}),
        ("x: 1e3", {"x": 1000.0}),
        ("x: 1_000", {"x": "1_000"}),
        ("x:\ny: ~", {"x": None, "y": None}),
        ("base: &b {a: 1}\nmore: {<<: *b, a: 2, c: 3}", {"base": {"a": 1}, "more": {"a": 2, "c": 3}}),
    ],
)
def test_yaml_means_what_it_looks_like(text: str, value: Any) -> None:
    assert read_documents(text, "a.yaml") == [value]


@given(JSON)
def test_what_we_print_as_yaml_we_read_back(value: Any) -> None:
    read = read_documents(to_yaml(value), "a.yaml")
    assert read == ([] if value is None else [value])


@given(st.dictionaries(st.text(), JSON))
def test_what_we_print_as_json_we_read_back(value: Any) -> None:
    assert read_documents(json.dumps(value), "a.json") == [value]


@pytest.mark.parametrize(
    "name, text, told",
    [
        ("a.json", "{", "not JSON: Expecting property name"),
        ("a.json", '{"a": 1, "a": 2}', "'a' twice"),
        ("a.json", '{"a": NaN}', "NaN is no number"),
        ("a.toml", "key =", "not TOML"),
        ("a.yaml", "key: [", "not YAML: "),
        ("a.yaml", "a: 1\nb: 2\na: 3", "'a' twice"),
        ("a.yaml", "1: x", "has the name 1; expected text"),
        ("a.yaml", "x: !!binary aGk=", "holds a bytes"),
        ("a.yaml", "x: !!python/object:os.system {}", "not YAML: could not determine a constructor"),
        ("a.yaml", "x: &a [*a]", "nested too deeply"),
        ("a.yaml", "x: \x07", "not YAML: "),
    ],
)
def test_what_cannot_be_read_says_why(name: str, text: str, told: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_documents(text, name)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "text, told",
    [
        ("", "it is empty"),
        ("just words", "expected an object, the body of a REST create"),
        ("cronExpression: 0 2 * * *", "has no key"),
        ("schedules: 5", "'schedules' is not a list"),
        ("schedules: []\nversion: 1", "'version' is not known"),
    ],
)
def test_a_file_without_schedules_is_refused(tmp_path: Path, text: str, told: str) -> None:
    write(tmp_path, a_yaml=text)
    with pytest.raises(Refused, match=r"a\.yaml") as refused:
        read_files(["a.yaml"])
    assert told in refused.value.message


def test_an_empty_list_is_a_set_that_has_nothing(tmp_path: Path) -> None:
    write(tmp_path, a_yaml="set: shop\nschedules: []")
    found = read_files(["a.yaml"])
    assert (found.set, found.entries) == ("shop", [])


def test_files_of_two_sets_are_not_applied_together(tmp_path: Path) -> None:
    write(tmp_path, a_json='{"set": "a", "schedules": []}', b_json='{"set": "b", "schedules": []}')
    with pytest.raises(Refused, match=r"several sets, 'a' in a\.json and 'b' in b\.json"):
        read_files(["a.json", "b.json"])


def test_the_same_key_of_two_tenants_is_two_schedules(tmp_path: Path) -> None:
    entries = [{"key": "k", "metadata": {"tenantId": tenant}} for tenant in ("a", "b")]
    write(tmp_path, a_json=json.dumps(entries))
    assert len(read_files(["a.json"]).entries) == 2


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="holds no files of schedules"):
        read_files(["empty"])


def test_yaml_without_its_reader_names_the_extra(duly: Duly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    write(tmp_path, a_yaml=YAML, a_toml=TOML)
    for command in (("schedule", "apply"), ("schedule", "create")):
        done = duly(*command, "-f", "a.yaml")
        assert done.exit_code == 2
        assert "duly[yaml]" in done.stderr
    assert duly("schedule", "apply", "-f", "a.toml").exit_code == 0


def test_portions_keep_the_order_and_fit_into_a_request() -> None:
    assert list(portions([])) == [[]]
    bodies = [{"key": f"k{number}"} for number in range(MOST * 2 + 1)]
    assert [body for part in portions(bodies) for body in part] == bodies
    assert [len(part) for part in portions(bodies)] == [MOST, MOST, 1]
    large = {"jobPayload": "x" * (BYTES - 100)}
    assert [len(part) for part in portions([large, large, {}])] == [1, 2]
    wide = {"jobPayload": {str(number): 1 for number in range(MEMBERS - 10)}}
    assert [len(part) for part in portions([wide, wide])] == [1, 1]
