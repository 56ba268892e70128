"""``duly db`` and ``duly config``: the database and the settings as they are."""

import json
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import apsw
import pytest

from duly.store.postgres.texts import load_migrations as postgres_migrations
from duly.store.sqlite.migrating import load_migrations as sqlite_migrations
from tests.cli.conftest import Duly, execute
from tests.store_choice import postgres_too

pytestmark = postgres_too("the schema and its upgrades")


def test_migrate_sets_up_and_is_safe_to_repeat(on_store: Duly) -> None:
    first, second = on_store("db", "migrate"), on_store("db", "migrate")
    assert first.stderr.startswith("set up ")
    assert "is up to date, at schema " in second.stderr
    assert (first.exit_code, second.exit_code, first.stdout) == (0, 0, "")


def test_status_tells_version_and_size(on_store: Duly) -> None:
    assert "none: " in on_store("db", "status").stdout
    on_store("db", "migrate")
    on_store("schedule", "create", "k", "--every", "1h", "--job", "j")
    told = json.loads(on_store("db", "status", "-o", "json").stdout)
    assert told["schema"] == told["newestSchema"] > 0
    assert told["pending"] == 0
    assert told["sizeBytes"] > 0
    assert set(told["rows"]) == {"schedules", "runs", "history"}
    assert told["rowsEstimated"] or told["rows"]["schedules"] == 1


def test_a_password_is_never_printed(duly: Duly, fresh_postgres: str) -> None:
    head, at, tail = fresh_postgres.partition("@")
    url = f"{head}:hush-hush{at}{tail}" if head.count(":") == 1 else fresh_postgres.replace("@", "hush-hush@", 1)
    for arguments in (["db", "migrate"], ["db", "status"], ["doctor"], ["config", "show"]):
        done = duly(*arguments, "--database-url", url, "-o", "yaml")
        assert "hush" not in done.output, arguments


def test_what_sql_prints_makes_a_database_that_works(on_store: Duly, store_url: str) -> None:
    execute(store_url, on_store("db", "sql").stdout)
    told = json.loads(on_store("db", "status", "-o", "json").stdout)
    assert (told["schema"], told["pending"]) == (told["newestSchema"], 0)
    assert "is up to date" in on_store("db", "migrate").stderr
    assert on_store("schedule", "create", "k", "--every", "1h", "--job", "j").exit_code == 0


@pytest.fixture
def second_migration(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Add a second migration to both dialects, when called: what was set up before is then one behind."""

    def add() -> None:
        monkeypatch.setitem(sqlite_migrations(), 2, "CREATE TABLE duly_second (id INTEGER) STRICT;")
        monkeypatch.setitem(postgres_migrations(), 2, "CREATE TABLE duly.duly_second (id int);")

    return add


def test_what_sql_prints_since_a_schema_upgrades_a_database_that_has_it(
    on_store: Duly, store_url: str, second_migration: Callable[[], None]
) -> None:
    on_store("db", "migrate")
    second_migration()
    assert json.loads(on_store("db", "status", "-o", "json").stdout)["pending"] == 1
    execute(store_url, on_store("db", "sql", "--since", "1").stdout)
    assert "is up to date, at schema 2" in on_store("db", "migrate").stderr
    assert on_store("schedule", "create", "k", "--every", "1h", "--job", "j").exit_code == 0


def test_one_text_sets_up_many_databases_each_with_an_id_of_its_own(duly: Duly, tmp_path: Path) -> None:
    text = duly("db", "sql", "--dialect", "sqlite").stdout
    ids = set()
    for name in ("a.db", "b.db"):
        connection = apsw.Connection(str(tmp_path / name))
        connection.execute(text)
        ids.add(connection.execute("SELECT store_id FROM duly_meta").fetchall()[0][0])
        connection.close()
    assert len({UUID(str(one)) for one in ids}) == 2


def test_sql_since_the_newest_schema_is_nothing(duly: Duly) -> None:
    assert duly("db", "sql", "--since", "999").stdout == ""


def test_a_database_is_not_looked_for_on_a_server(duly: Duly) -> None:
    done = duly("db", "status", "--server", "http://127.0.0.1:1")
    assert done.exit_code == 2
    assert "--database-url" in done.stderr


def test_an_older_schema_of_a_server_is_upgraded_when_asked_to(
    duly: Duly, fresh_postgres: str, second_migration: Callable[[], None]
) -> None:
    on = ("--database-url", fresh_postgres)
    duly("db", "migrate", *on)
    second_migration()
    assert "behind" in duly("db", "status", *on).stdout
    refused = duly("schedule", "list", *on)
    assert refused.exit_code == 78
    assert "run `duly db migrate`" in refused.stderr
    assert duly("doctor", *on).exit_code == 1
    assert "from schema 1 to 2" in duly("db", "migrate", *on).stderr
    assert duly("schedule", "list", *on).exit_code == 0


def test_a_newer_schema_is_left_alone(on_store: Duly, store_url: str) -> None:
    on_store("db", "migrate")
    execute(store_url, "UPDATE duly_meta SET schema = 99")
    for arguments in (["db", "status"], ["db", "migrate"], ["schedule", "list"]):
        done = on_store(*arguments)
        assert done.exit_code == 78
        assert "schema 99" in done.stderr
    assert on_store("doctor").exit_code == 1


def test_config_show_writes_values_as_a_file_would_and_masks_only_what_is_there(duly: Duly) -> None:
    rows = {line.split()[0]: line.split()[1] for line in duly("config", "show").stdout.splitlines()}
    names = ("api.open_metrics", "lease", "retention", "payload_keys", "api.cors_origins")
    assert [rows[name] for name in names] == ["true", "15", "2592000", "-", "-"]
    key = duly("db", "key", "a").stdout.strip()
    assert "  ***  " in duly("config", "show", env={"DULY_PAYLOAD_KEYS": key}).stdout


def test_config_check_says_whether_the_settings_can_be_used(duly: Duly, tmp_path: Path) -> None:
    file = tmp_path / "duly.toml"
    file.write_text("lease = 30\n[[schedules]]\nkey = 'a'\nevery = '1h'\njob = 'j'\n", "utf-8")
    good = duly("config", "check", "-o", "json")
    assert (good.exit_code, json.loads(good.stdout)) == (0, {"files": ["duly.toml"], "warnings": [], "schedules": 1})
    assert "warning: environment variable DULY_LAESE" in duly("config", "check", env={"DULY_LAESE": "1"}).stderr
    file.write_text("laese = 30\n", "utf-8")
    bad = duly("config", "check")
    assert (bad.exit_code, bad.stdout) == (78, "")
    assert "laese" in bad.stderr


DECLARED = "[[schedules]]\nkey = 'k'\nevery = '1h'\n"
UNSERVABLE = {
    DECLARED + "job = 'j'\noverlap = 'foo'": "duly.toml: [[schedules]] 'k': overlap is 'foo'; expected ",
    DECLARED: "duly.toml: [[schedules]] 'k': the target is missing; expected exactly one of job, workflow,",
    DECLARED.replace("'k'", "'bad key'")
    + "job = 'j'": "duly.toml: [[schedules]] 'bad key': schedule key is 'bad key'; ",
    DECLARED + "job = 'j'\njobType = 'j'": "duly.toml: [[schedules]] 'k': jobType is unknown; did you mean job?",
    "[targets.x]\nurl = 'foo://'": "duly.toml: target 'x': url begins with foo://; expected one of ",
    "[targets.x]\nurl = 'redis://h/0?strem=x'": "duly.toml: target 'x': ",
    "[targets.'Bad Name']\nurl = 'redis://h/0'": "duly.toml: target name is 'Bad Name'; expected ",
}


@pytest.mark.parametrize("text, said", UNSERVABLE.items())
def test_config_check_refuses_what_serve_refuses_in_the_same_words(
    duly: Duly, tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "duly.toml").write_text(text, "utf-8")
    for command in (["config", "check"], ["serve", "--roles", "scheduler,worker"]):
        done = duly(*command)
        assert done.stderr.partition("\n")[0].startswith(f"duly: {said}"), command
        assert done.exit_code == 78


def test_config_check_opens_nothing(duly: Duly, tmp_path: Path) -> None:
    (tmp_path / "duly.toml").write_text(DECLARED + "job = 'j'\n[targets.x]\nurl = 'redis://127.0.0.1:1/0'", "utf-8")
    assert duly("config", "check").exit_code == 0
    assert not (tmp_path / "duly.db").exists()


def test_config_show_says_where_each_value_came_from(duly: Duly) -> None:
    env = {"DULY_POLL": "2", "DULY_DATABASE_URL": "postgresql://me:hush@db/x", "DULY_API_KEY": "duly_live_hush"}
    done = duly("config", "show", "-o", "json", env=env)
    told = json.loads(done.stdout)
    assert told["poll"] == {"value": 2.0, "origin": "DULY_POLL"}
    assert told["database.url"] == {"value": "postgresql://me:***@db/x", "origin": "DULY_DATABASE_URL"}
    assert told["lease"]["origin"] == "default"
    assert "hush" not in done.output
    changed = duly("config", "show", "--changed", "-o", "name", env=env)
    assert set(changed.stdout.split()) == {"api.key", "database.url", "poll"}


def test_a_bad_setting_is_exit_code_78(duly: Duly) -> None:
    done = duly("config", "show", env={"DULY_POLL": "soon"})
    assert done.exit_code == 78
    assert "DULY_POLL" in done.stderr


def test_a_key_is_made_and_all_is_sealed_anew_with_it(on_store: Duly, monkeypatch: pytest.MonkeyPatch) -> None:
    on_store("schedule", "create", "k", "--every", "1h", "--job", "j", "--payload", '{"word": "marzipan"}')
    refused = on_store("db", "reseal")
    assert (refused.exit_code, "names no key" in refused.stderr) == (78, True)
    key = on_store("db", "key", "2026a").stdout.strip()
    monkeypatch.setenv("DULY_PAYLOAD_KEYS", key)
    assert json.loads(on_store("db", "reseal", "-o", "json").stdout) == {"written": 2, "unreadable": 0}
    assert "marzipan" in on_store("schedule", "get", "k", "-o", "json").stdout
    assert "sealed with key 2026a" in on_store("doctor").stdout
    assert key.partition(":")[2] not in on_store("config", "show").stdout
    monkeypatch.delenv("DULY_PAYLOAD_KEYS")
    refused = on_store("schedule", "get", "k")
    assert (refused.exit_code, "key '2026a'" in refused.stderr) == (78, True)
    assert on_store("db", "key", "no spaces").exit_code == 2
