"""Which store or server a command works on, and what happens where there is none."""

import sys
from pathlib import Path

import pytest

from tests.acceptance.rules import rule
from tests.cli.conftest import Duly, Spawn
from tests.store_choice import postgres_too

CREATE = ("schedule", "create", "k", "--every", "1h", "--job", "j", "-q", "-o", "name")


def test_the_default_is_a_file_in_this_folder(duly: Duly, tmp_path: Path) -> None:
    assert duly(*CREATE).exit_code == 0
    assert (tmp_path / "duly.db").exists()


@pytest.mark.parametrize(
    "arguments", [["schedule", "list"], ["schedule", "get", "k"], ["run", "list"], ["schedule", "pause", "k"]]
)
def test_looking_never_makes_a_database(duly: Duly, tmp_path: Path, arguments: list[str]) -> None:
    done = duly(*arguments)
    assert done.exit_code == 78
    assert done.stderr.splitlines()[0] == "duly: there is no duly database at sqlite:///duly.db"
    assert "duly db migrate" in done.stderr
    assert "DULY_API_URL" in done.stderr, "a second terminal does not know where the service is"
    assert list(tmp_path.iterdir()) == []


@postgres_too("an empty database")
def test_looking_sets_nothing_up_in_an_empty_postgres(on_store: Duly, store_url: str) -> None:
    assert on_store("schedule", "list").exit_code == 78
    assert "none" in on_store("db", "status").stdout


def test_flags_go_before_and_after_the_command_and_the_last_wins(duly: Duly, tmp_path: Path) -> None:
    assert duly("--database-url", "sqlite:///a.db", *CREATE).exit_code == 0
    assert duly("schedule", "list", "-o", "name", "--database-url", "sqlite:///a.db").stdout == "k\n"
    assert duly("--database-url", "sqlite:///b.db", *CREATE, "--database-url", "sqlite:///c.db").exit_code == 0
    assert sorted(file.name for file in tmp_path.glob("*.db")) == ["a.db", "c.db"]


def test_the_environment_and_a_file_say_where(duly: Duly, tmp_path: Path) -> None:
    (tmp_path / "duly.toml").write_text('[database]\nurl = "sqlite:///file.db"\n')
    duly(*CREATE)
    assert (tmp_path / "file.db").exists()
    duly(*CREATE, env={"DULY_DATABASE_URL": "sqlite:///env.db"})
    assert (tmp_path / "env.db").exists()
    duly("--database-url", "sqlite:///flag.db", *CREATE, env={"DULY_DATABASE_URL": "sqlite:///no.db"})
    assert (tmp_path / "flag.db").exists()
    assert not (tmp_path / "no.db").exists()


def test_an_apps_own_store_holds_unless_another_is_given(spawn: Spawn, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text("import duly\napp = duly.Duly('sqlite:///shop.db')\n")
    env = {"DULY_DATABASE_URL": "sqlite:///env.db"}
    assert spawn("--app", "shop:app", *CREATE, env=env).returncode == 0
    assert [file.name for file in tmp_path.glob("*.db")] == ["shop.db"]
    assert spawn("--app", "shop", "--database-url", "sqlite:///other.db", *CREATE).returncode == 0
    assert (tmp_path / "other.db").exists()


@pytest.mark.parametrize("elsewhere", [(), ("--database-url", "sqlite:///other.db")])
def test_an_apps_jobs_check_the_payload(spawn: Spawn, tmp_path: Path, elsewhere: tuple[str, ...]) -> None:
    (tmp_path / "shop.py").write_text(
        "import duly\napp = duly.Duly('sqlite:///shop.db')\n@app.job('j')\ndef j(user: int): ...\n"
    )
    done = spawn("--app", "shop:app", *elsewhere, *CREATE, "--payload", '{"user": "me"}')
    assert done.returncode == 2
    assert "user" in done.stderr


@pytest.mark.parametrize(
    "path, told",
    [
        ("nowhere:app", "there is no module 'nowhere'"),
        ("shop:nothing", "has no 'nothing'"),
        ("broken:app", "broken.py:1"),
    ],
)
def test_an_app_that_is_not_there_is_said_so(spawn: Spawn, tmp_path: Path, path: str, told: str) -> None:
    (tmp_path / "shop.py").write_text("import duly\napp = duly.Duly('sqlite:///shop.db')\n")
    (tmp_path / "broken.py").write_text("import not_installed_at_all\n")
    done = spawn("schedule", "list", "--app", path)
    assert done.returncode == 78
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_and_a_server_at_once_are_refused(duly: Duly) -> None:
    done = duly("schedule", "list", "--server", "http://127.0.0.1:1", "--database-url", "sqlite:///a.db")
    assert done.exit_code == 2
    assert "--server and --database-url were both given" in done.stderr


def test_a_server_in_the_environment_wins_over_a_store_in_it(duly: Duly) -> None:
    env = {"DULY_API_URL": "http://127.0.0.1:1", "DULY_DATABASE_URL": "sqlite:///a.db"}
    assert duly("schedule", "list", env=env).exit_code == 69
    assert duly("schedule", "list", "--database-url", "sqlite:///b.db", env=env).exit_code == 78


@pytest.mark.parametrize(
    "url, code, told",
    [
        ("postgresql://me:hush@127.0.0.1:1/x", 69, "cannot connect to PostgreSQL at 127.0.0.1:1/x"),
        ("mysql://me:hush@127.0.0.1/x", 78, "starts with 'mysql'; expected sqlite:///file.db"),
        ("sqlite:///missing/folder/x.db", 78, "does not exist; create it first"),
        ("sqlite:///text.db", 78, "is not a SQLite database"),
    ],
)
def test_a_store_that_cannot_be_used_is_said_so(spawn: Spawn, tmp_path: Path, url: str, code: int, told: str) -> None:
    (tmp_path / "text.db").write_text("this is a letter to a friend, and no database at all" * 20)
    for arguments in (CREATE, ("schedule", "list"), ("db", "status")):
        done = spawn(*arguments, "--database-url", url)
        assert done.returncode == code, done.stderr
        assert told in done.stderr
        assert "hush" not in done.stderr
        assert "Traceback" not in done.stderr


def test_settings_hold_for_commands_too(duly: Duly) -> None:
    often = ("schedule", "create", "k", "--every", "200ms", "--job", "j")
    assert duly(*often).exit_code == 2
    assert duly(*often, env={"DULY_MIN_INTERVAL_MS": "100"}).exit_code == 0


@rule("S0.24")
def test_a_missing_extra_is_named(duly: Duly, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("httpx2", "psycopg", "yaml"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith("duly.store.postgres.")]:
        monkeypatch.delitem(sys.modules, name)
    server = duly("schedule", "list", "--server", "http://127.0.0.1:1")
    assert (server.exit_code, "pip install 'duly[client]'" in server.stderr) == (78, True)
    postgres = duly("schedule", "list", "--database-url", "postgresql://127.0.0.1:1/x")
    assert (postgres.exit_code, "pip install 'duly[postgres]'" in postgres.stderr) == (78, True)
    (tmp_path / "body.yaml").write_text("key: k\n")
    yaml = duly("schedule", "create", "-f", "body.yaml")
    assert (yaml.exit_code, "pip install 'duly[yaml]'" in yaml.stderr) == (2, True)
