"""Bad inputs on the command line: an exit code of the list, one plain line, and no secret in it.

The rows say exit 1 and 2; ours are those of the interface: 69 where nobody answers, 78 where a setting is wrong.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner, Result

from duly.cli import main
from tests.acceptance.rules import rule
from tests.cli.conftest import OURS

Run = Callable[..., Result]
LOL = "".join(f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True))
BOMB = f"a: &a [lol, lol, lol]\n{LOL}key: k\neveryMs: 5000\njobType: x\njobPayload: *i\n"
MERGES = "".join(
    f"{b}: &{b}\n  <<: [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")
    for name in [name for name in os.environ if name.startswith(OURS) and not name.startswith("DULY_TEST")]:
        monkeypatch.delenv(name)

    def invoke(*arguments: str, **variables: str) -> Result:
        done = CliRunner().invoke(main, list(arguments), env=variables, prog_name="duly")
        assert "Traceback" not in done.output
        assert "unforeseen" not in done.output
        return done

    return invoke


def test_l02_a_password_is_not_printed_where_nobody_answers(run: Run) -> None:
    for place in ("--database-url", "--server"):
        scheme = "postgresql" if place == "--database-url" else "http"
        done = run(place, f"{scheme}://u:hunter2@127.0.0.1:1/x", "schedule", "list")
        assert done.exit_code == 69
        assert "hunter2" not in done.output


def test_l05_a_key_with_a_line_break_is_refused(run: Run) -> None:
    done = run("--server", "http://127.0.0.1:1", "schedule", "list", DULY_API_KEY="x\ny: z")
    assert done.exit_code == 78
    assert "DULY_API_KEY is not usable" in done.stderr
    assert "y: z" not in done.stderr


NO_SCHEMAS = (
    'x"; DROP SCHEMA public CASCADE; --', "Duly", "1st", "my-jobs", "a.b", "", " duly", "duly\n", "é", "a" * 64,
    "pg_temp", "pg_catalog", "information_schema",
)  # fmt: skip


@pytest.mark.parametrize(
    ("way", "name"),
    [
        (way, name)
        for way in ("url", "file", "variable", "printed")
        for name in NO_SCHEMAS
        if name or way in ("url", "file")  # an empty variable is one that is not set
    ],
)
def test_l14_a_schema_name_that_is_not_an_identifier_is_refused_before_anything_connects(
    run: Run, tmp_path: Path, way: str, name: str
) -> None:
    nobody = "postgresql://u@127.0.0.1:1/x"  # whoever connects is told 69
    if way == "url":
        done = run("--database-url", f"{nobody}?schema={quote(name, safe='')}", "schedule", "list")
    elif way == "file":
        (tmp_path / "duly.toml").write_text(f"[database]\nurl = '{nobody}'\nschema = {json.dumps(name)}\n", "utf-8")
        done = run("schedule", "list")
    elif way == "variable":
        done = run("--database-url", nobody, "schedule", "list", DULY_DATABASE_SCHEMA=name)
    else:
        done = run("db", "sql", "--dialect", "postgres", DULY_DATABASE_SCHEMA=name)
    assert done.exit_code == 2, done.output
    assert "schema" in done.stderr
    assert "expected 1 to 63 characters of a-z, 0-9 and _" in done.stderr


@pytest.mark.parametrize("command", ["doctor", "serve", "db migrate", "db sql", "config check"])
def test_l14_every_command_refuses_such_a_name(run: Run, command: str) -> None:
    done = run(*command.split(), "--database-url", "postgresql://u@127.0.0.1:1/x?schema=Duly")
    assert done.exit_code == 2, done.output
    assert "schema in the database URL is 'Duly'; expected 1 to 63 characters" in done.stderr


@pytest.mark.parametrize("text", [BOMB, MERGES + "a: 1", "a: &a {x: 1}\n" + MERGES], ids=["lists", "broken", "merges"])
def test_l07_aliases_do_not_multiply(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "bomb.yaml").write_text(text)
    done = run("schedule", "apply", "-f", "bomb.yaml")
    assert done.exit_code == 2
    assert len(done.stderr) < 1000
    assert run("--config", "bomb.yaml", "schedule", "list").exit_code == 78, "settings are TOML"


@pytest.mark.parametrize("name", ["deep.toml", "deep.json", "deep.yaml"])
def test_a_file_nested_too_deeply_is_refused(run: Run, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(("x = " if name == "deep.toml" else "") + "[" * 5_000)
    assert run("schedule", "apply", "-f", name).exit_code == 2
    assert run("--config", name, "schedule", "list").exit_code == 78


REFUSED = [
    (["schedule", "create", "k", "--every", "5s", "--job", "x", "--payload", "{"], 2),
    (["schedule", "create", "k", "--every", "5s", "--job", "x", "--payload", "@/nonexistent"], 2),
    (["schedule", "create", "k", "--every", "5s", "--job", "x", "--payload", "@/"], 2),
    (["schedule", "create", "k", "--every", "5s", "--job", "x", "--name", "a\x1b[2J"], 2),
    (["schedule", "create", "a b", "--every", "5s", "--job", "x"], 2),
    (["schedule", "create", "k", "--every", "5x", "--job", "x"], 2),
    (["schedule", "create", "k", "--every", "5s", "--cron", "* * * * *", "--job", "x"], 2),
    (["schedule", "create", "k", "--every", "5s"], 2),
    (["schedule", "create", "k", "--at", "2016-12-31T23:59:60Z", "--job", "x"], 2),
    (["schedule", "create", "k", "--every", "5s", "--job", "x", "--timeout", "1e400"], 2),
    (["schedule", "create", "k", "--every", "5s", "--job", "x", "--max-attempts", "0"], 2),
    (["schedule", "get", "never-was"], 3),
    (["run", "get", "'; DROP TABLE duly_runs; --"], 3),
    (["run", "list", "--limit", "0"], 2),
    (["cron", "next", "0 0 30 2 *"], 2),
    (["cron", "next", "* * * * *", "--count", "-1"], 2),
    (["--database-url", "nonsense", "schedule", "list"], 78),
    (["--database-url", "sqlite:///x.db?password=hunter2", "schedule", "list"], 78),
    (["--server", "ftp://127.0.0.1", "schedule", "list"], 78),
    (["serve", "--host", "0.0.0.0", "--port", "0"], 78),
    (["serve", "--port", "99999"], 2),
    (["schedule", "list", "--no-such-flag"], 2),
    (["no-such-command"], 2),
]  # fmt: skip


@rule("K5")
def test_what_is_refused_says_so_and_changes_nothing(run: Run) -> None:
    assert run("db", "migrate").exit_code == 0
    for arguments, code in REFUSED:
        done = run(*arguments)
        assert done.exit_code == code, (arguments, done.output)
        assert done.stderr.startswith("duly: "), arguments
        assert "\x1b" not in done.output
        assert "hunter2" not in done.output
        assert done.stdout == "", arguments
    assert json.loads(run("schedule", "list", "-o", "json").stdout) == {"items": [], "nextCursor": None}
