"""Every mistake of the first hour gets one clear line (or two) that says what to do, and its exit code."""

import shlex
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw
import psycopg
import pytest

from tests.serve.serving import ROOT, Served, duly

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120, func_only=True)]

APPS = {
    "shop.py": "import duly\napp = duly.Duly()\nother = duly.Duly()\n",
    "broken.py": "import duly\nimport sendmial\napp = duly.Duly()\n",
    "typo.py": "import duly\napp = duly.Duly(\n",
    "twice.py": (
        "import duly\napp = duly.Duly()\n@app.every('5s', name='x')\nasync def a(): ...\n"
        "@app.every('5s', name='x')\nasync def b(): ...\n"
    ),
    "never.py": "import duly\napp = duly.Duly()\n@app.cron('99 * * * *', name='n')\nasync def a(): ...\n",
    "made.py": "import duly\ndef make(): raise RuntimeError('no password is set')\nnumber = 3\n",
}


@dataclass(frozen=True)
class Mistake:
    """A command, the exit code it must end with, and words that its one line must have."""

    command: str
    code: int
    words: tuple[str, ...]
    variables: dict[str, str] = field(default_factory=dict)


MISTAKES = {
    "bad cron": Mistake(
        "schedule create x --cron '99 2 * * *' --job j", 2, ("cron field 'minute' is '99'; expected 0-59",)
    ),
    "bad zone": Mistake(
        "schedule create x --daily 02:00 --timezone EST --job j", 2, ("timezone is 'EST'", "America/New_York")
    ),
    "bad interval": Mistake("schedule create x --every 5ms --job j", 2, ("expected", "1")),
    "duplicate key": Mistake("schedule create taken --every 5s --job j", 4, ("'taken' is in use", "another key")),
    "unknown schedule": Mistake("schedule get nothing", 3, ("nothing",)),
    "unknown flag": Mistake("serve --prot 1", 2, ("--prot", "--help")),
    "unknown command": Mistake("sevre", 2, ("'sevre'", "--help")),
    "port out of range": Mistake("serve --port 99999", 2, ("--port is 99999; expected a whole number 0-65535",)),
    "unknown role": Mistake("serve --roles chef", 2, ("--roles", "expected some of api, scheduler, worker")),
    "public bind": Mistake("serve --port 0 --host 0.0.0.0", 78, ("other machines can reach", "--insecure")),
    "database unreachable": Mistake(
        "serve --port 0 --database-url postgresql://u:secret@127.0.0.1:1/d",
        69,
        ("cannot connect to PostgreSQL at 127.0.0.1:1/d", "duly doctor"),
    ),
    "database of another kind": Mistake(
        "serve --port 0 --database-url mysql://u:secret@h/d",
        78,
        ("'mysql'", "expected sqlite:///file.db", "postgresql:"),
    ),
    "database URL without a scheme": Mistake(
        "serve --port 0 --database-url shop.db", 78, ("'shop.db'", "expected sqlite:///file.db")
    ),
    "database in a folder that is not there": Mistake(
        "serve --port 0 --database-url sqlite:////nowhere/x.db", 78, ("'/nowhere' does not exist; create it first",)
    ),
    "database is no database": Mistake(
        "serve --port 0 --database-url sqlite:///notes.txt", 78, ("notes.txt", "not a database")
    ),
    "newer schema": Mistake(
        "serve --port 0 --database-url sqlite:///newer.db", 78, ("schema 99", "install the newer duly")
    ),
    "foreign tables": Mistake("serve --port 0 --database-url sqlite:///foreign.db", 78, ("duly did not create",)),
    "missing extra postgres": Mistake(
        "serve --port 0 --database-url postgresql://u@127.0.0.1:1/d",
        78,
        ("pip install 'duly[postgres]'",),
        {"WITHOUT": "psycopg"},
    ),
    "missing extra server": Mistake(
        "serve --port 0", 78, ("pip install 'duly[server]'", "leave out the role api"), {"WITHOUT": "starlette"}
    ),
    "import error in the app": Mistake(
        "serve --port 0 --app broken:app", 78, ("No module named 'sendmial'", "(broken.py:2)")
    ),
    "syntax error in the app": Mistake(
        "serve --port 0 --app typo:app", 78, ("SyntaxError: '(' was never closed", "(typo.py:2)")
    ),
    "bad cron in the app": Mistake(
        "serve --port 0 --app never:app", 78, ("cron field 'minute' is '99'; expected 0-59", "(never.py:3)")
    ),
    "the same name twice in the app": Mistake(
        "serve --port 0 --app twice:app", 78, ("job 'x' is registered twice", "another name", "(twice.py:5)")
    ),
    "no such module": Mistake("serve --port 0 --app shpo:app", 78, ("no module 'shpo' in ", "start in the folder")),
    "no such name in the module": Mistake(
        "serve --port 0 --app shop:ap", 78, ("has no 'ap'", "its Duly objects are shop:app, shop:other")
    ),
    "a file instead of a module": Mistake("serve --port 0 --app shop.py", 78, ("write shop:app",)),
    "not a Duly": Mistake("serve --port 0 --app made:number", 78, ("is an int; expected a Duly",)),
    "a factory that fails": Mistake(
        "serve --port 0 --app made:make", 78, ("RuntimeError: no password is set", "(made.py:2)")
    ),
    "wrong value in the environment": Mistake(
        "serve", 78, ('DULY_API_PORT is "http"; expected a whole number 0-65535',), {"DULY_API_PORT": "http"}
    ),
    "no such file of settings": Mistake("serve --config no.toml", 78, ("--config is 'no.toml'", "No such file")),
    "unknown key in the file": Mistake(
        "serve --config bad.toml", 78, ("bad.toml: [api] prot is unknown; did you mean port?",)
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A newcomer's folder, with everything that can be wrong in it."""
    folder = tmp_path_factory.mktemp("newcomer")
    for name, text in APPS.items():
        (folder / name).write_text(text)
    (folder / "bad.toml").write_text("[api]\nprot = 1\n")
    (folder / "notes.txt").write_text("not a database at all, only some notes\n" * 100)
    block = folder / "without"
    block.mkdir()
    (block / "sitecustomize.py").write_text("import os, sys\nsys.modules[os.environ['WITHOUT']] = None\n")
    for name in ("duly", "newer", "foreign"):
        _make(f"sqlite:///{name}.db", folder)
    _edit(folder / "newer.db", "UPDATE duly_meta SET schema = 99")
    _edit(folder / "foreign.db", "DROP TABLE duly_meta")
    return folder


def _make(url: str, folder: Path) -> None:
    made = duly("schedule", "create", "taken", "--every", "1h", "--job", "j", "--database-url", url, folder=folder)
    assert made.code == 0, made.err


def _edit(path: Path, statement: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(statement)
    connection.close()


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_in_one_clear_line(folder: Path, name: str) -> None:
    mistake = MISTAKES[name]
    variables = dict(mistake.variables)
    if "WITHOUT" in variables:
        variables["PYTHONPATH"] = f"{folder / 'without'}:{ROOT / 'src'}"
    said = duly(*shlex.split(mistake.command), folder=folder, **variables)
    assert (said.code, said.out) == (mistake.code, ""), said.err
    assert 1 <= len(said.lines) <= 2, said.err
    assert said.lines[0].startswith("duly: ")
    for word in mistake.words:
        assert word in said.err
    assert "Traceback" not in said.err
    assert "secret" not in said.err.replace("duly_secrets", "a table of ours")


def test_a_taken_port_is_named_with_a_way_out(folder: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        said = duly("serve", "--port", str(port), folder=folder)
    assert said.code == 69
    (line,) = said.lines
    assert f"port {port} on 127.0.0.1 is taken" in line
    assert "--port" in line


def test_an_older_or_newer_schema_on_a_server_says_which_and_what_to_do(tmp_path: Path, fresh_postgres: str) -> None:
    _make(fresh_postgres, tmp_path)
    for schema, words in ((0, "run `duly db migrate`"), (99, "install the newer duly")):
        with psycopg.connect(fresh_postgres, autocommit=True) as connection:
            connection.execute("UPDATE duly.duly_meta SET schema = %s", [schema])
        said = duly("serve", "--port", "0", "--database-url", fresh_postgres, folder=tmp_path)
        assert said.code == 78
        (line,) = said.lines
        assert f"schema {schema}" in line
        assert words in line


@pytest.fixture
def served(tmp_path: Path, own_place: None) -> Iterator[Served]:
    served = Served(tmp_path, DULY_HEARTBEAT="1s").ready()
    yield served
    served.close()


def test_a_job_that_nobody_knows_is_told_once_with_what_to_do(served: Served) -> None:
    assert served.ask("/api/v1/runs", {"jobType": "helo", "payload": {}}).status == 202
    served.until(lambda: "no live worker knows job 'helo'" in served.said(), "the warning")
    line = next(line for line in served.said().splitlines() if "'helo'" in line)
    assert "duly worker --app MODULE:APP" in line
    assert "correct the name" in line
    served.let_pass(3)
    assert served.said().count("'helo'") == 1, "once, not every few seconds"
    assert served.end() == 0


def test_a_stack_is_shown_only_to_who_asks_for_it(folder: Path) -> None:
    said = duly("serve", "--port", "0", "--app", "broken:app", folder=folder, DULY_DEBUG="1")
    assert "Traceback" in said.err
    assert said.lines[0].startswith("duly: --app broken:app cannot be imported")
