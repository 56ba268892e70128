"""Configuration: who wins, where a value came from, and what is said about a wrong one."""

from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from duly import Cron, Every, Retry
from duly.app.words import SCHEDULE_WORDS
from duly.config import Loaded, debugging, load, wants_colour
from duly.config.declared import WORDS
from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.outside import Grant
from duly.core.timing.friendly import timing_from
from tests.acceptance.rules import rule


class Place:
    """A folder and an environment of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment: dict[str, str] = {}

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def load(self, flags: Mapping[str, object] | None = None, **options: Any) -> Loaded:
        return load(flags, environment=self.environment, folder=self.folder, **options)

    def refusal(self, **options: Any) -> str:
        with pytest.raises(ConfigurationError) as caught:
            self.load(**options)
        return str(caught.value)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_a_flag_beats_the_environment_beats_the_named_file_beats_the_file_here_beats_the_users_beats_the_default(
    place: Place,
) -> None:
    layers: list[tuple[int, str]] = [(8080, "default")]
    assert (place.load()["api.port"], place.load().origins["api.port"]) == layers[0]
    place.environment["XDG_CONFIG_HOME"] = str(place.folder / "xdg")
    users = place.write("xdg/duly/config.toml", "[api]\nport = 1")
    assert (place.load()["api.port"], place.load().origins["api.port"]) == (1, str(users))
    place.write("duly.toml", "[api]\nport = 2")
    assert (place.load()["api.port"], place.load().origins["api.port"]) == (2, "duly.toml")
    named = place.write("named.toml", "[api]\nport = 3")
    place.environment["DULY_CONFIG"] = str(named)
    assert (place.load()["api.port"], place.load().origins["api.port"]) == (3, str(named))
    place.environment["PORT"] = "4"
    assert (place.load()["api.port"], place.load().origins["api.port"]) == (4, "PORT")
    place.environment["DULY_API__PORT"] = "5"
    assert (place.load()["api.port"], place.load().origins["api.port"]) == (5, "DULY_API__PORT")
    place.environment["DULY_API_PORT"] = "6"
    assert (place.load()["api.port"], place.load().origins["api.port"]) == (6, "DULY_API_PORT")
    loaded = place.load({"api.port": 7})
    assert (loaded["api.port"], loaded.origins["api.port"]) == (7, "flag --port")


def test_the_config_flag_beats_its_variable(place: Place) -> None:
    place.environment["DULY_CONFIG"] = str(place.write("a.toml", "poll = 2"))
    assert place.load(config=place.write("b.toml", "poll = 3")).settings.poll == 3


def test_a_value_comes_from_the_strongest_file_that_has_it(place: Place) -> None:
    place.write("duly.toml", "poll = 2")
    loaded = place.load(config=place.write("b.toml", "[log]\nlevel = 'debug'"))
    assert (loaded.settings.poll, loaded["log.level"]) == (2, "debug")
    assert loaded.files == (str(place.folder / "b.toml"), "duly.toml")


def test_a_flag_that_was_not_given_says_nothing(place: Place) -> None:
    place.environment["DULY_API_PORT"] = "6"
    assert place.load({"api.port": None})["api.port"] == 6


def test_engine_settings_are_numbers_or_durations(place: Place) -> None:
    place.write("duly.toml", "lease = '1m'\nheartbeat = 20\nconcurrency = 7")
    place.environment["DULY_SHUTDOWN_TIMEOUT"] = "PT2M"
    place.environment["DULY_POLL"] = "0.5"
    settings = place.load().settings
    assert (settings.lease, settings.heartbeat, settings.concurrency) == (60, 20, 7)
    assert (settings.shutdown_timeout, settings.poll) == (120, 0.5)


def test_settings_that_are_words_are_read_and_refused_by_name(place: Place) -> None:
    place.write("duly.toml", "catchup_default = 'skip'\nstrict_ids = true\nretention_failed = '90d'")
    assert place.load().settings.retention_failed == 90 * 86_400
    assert place.load().settings.retention_completed is None
    assert (place.load().settings.catchup_default, place.load().settings.strict_ids) == ("skip", True)
    place.environment |= {"DULY_CATCHUP_DEFAULT": "all", "DULY_STRICT_IDS": "no"}
    assert (place.load().settings.catchup_default, place.load().settings.strict_ids) == ("all", False)
    place.environment["DULY_CATCHUP_DEFAULT"] = "some"
    assert place.refusal() == 'DULY_CATCHUP_DEFAULT is "some"; expected latest | skip | all'
    place.environment |= {"DULY_CATCHUP_DEFAULT": "all", "DULY_STRICT_IDS": "perhaps"}
    assert place.refusal() == 'DULY_STRICT_IDS is "perhaps"; expected true | false'


def test_settings_that_do_not_go_together_name_who_chose_them(place: Place) -> None:
    place.environment["DULY_LEASE"] = "3"
    assert place.refusal() == (
        "setting heartbeat is 5.0 s with a lease of 3.0 s; expected at most a third of the lease, so that one lost"
        " heartbeat does not lose the lease (from DULY_LEASE)"
    )


WRONG = {
    '[api]\nport = "x"': 'duly.toml: [api] port is "x"; expected a whole number 0-65535',
    "[api]\nport = 70000": "duly.toml: [api] port is 70000; expected a whole number 0-65535",
    "[api]\nport = true": "duly.toml: [api] port is True; expected a whole number 0-65535",
    "[log]\nlevel = 'loud'": 'duly.toml: [log] level is "loud"; expected debug | info | warning | error',
    "lease = -1": "duly.toml: lease is -1; expected seconds, 0 or more, or a duration such as '30s' or '5m'",
    "roles = ['chef']": "duly.toml: roles is ['chef']; expected some of api, scheduler, worker",
    "[database]\nurl = 3": (
        "duly.toml: [database] url is not usable; expected a URL such as sqlite:///duly.db or"
        " postgresql://user@host/database"
    ),
    "[api]\nprot = 1": "duly.toml: [api] prot is unknown; did you mean port?",
    "[api]\nzzz = 1": "duly.toml: [api] zzz is unknown; expected one of allowed_hosts, body_timeout, ",
    "[databas]\nurl = 'x'": "duly.toml: [databas] is unknown; did you mean [database]?",
    "[goals.x]\nurl = 'x'": "duly.toml: [goals] is unknown; expected [api] [auth.jwt] [database] ",
    "[api]\nlease = 1": "duly.toml: [api] lease is unknown; lease belongs to the top of the file, above all [sections]",
    "port = 1": "duly.toml: port is unknown; did you mean [api] port?",
    "concurency = 1": "duly.toml: concurency is unknown; did you mean concurrency?",
    "api = 1": "duly.toml: api is 1; expected a section [api] with keys below it",
    "[api": "duly.toml: this is not TOML: ",
    "[schedules]\nkey = 'x'": "duly.toml: schedules is not a list of tables; write [[schedules]] above each",
    "[[schedules]]\ncron = '* * * * *'": (
        "duly.toml: [[schedules]] 'number 1' has no key; expected a text such as key = 'nightly-report'"
    ),
    "[[schedules]]\nkey = 'x'": "duly.toml: [[schedules]] 'x': none was given; expected exactly one of cron, every,",
    "[[schedules]]\nkey = 'x'\ncron = '99 * * * *'": "duly.toml: [[schedules]] 'x': ",
    "[[schedules]]\nkey = 'x'\ncronExpression = '* * * * *'": (
        "duly.toml: [[schedules]] 'x': cronExpression is unknown; did you mean cron?"
    ),
    "[[schedules]]\nkey = 'x'\nevery = '5s'\njobType = 'j'": (
        "duly.toml: [[schedules]] 'x': jobType is unknown; did you mean job?"
    ),
    "[[schedules]]\nkey = 'x'\nevery = '5s'\nmaxQueued = 3": (
        "duly.toml: [[schedules]] 'x': maxQueued is unknown; did you mean max_queued?"
    ),
    "[[schedules]]\nkey = 'x'\nevery = '5s'\novrlap = 'skip'": (
        "duly.toml: [[schedules]] 'x': ovrlap is unknown; did you mean overlap?"
    ),
    "[[schedules]]\nkey = 'x'\nevery = '5s'\nzzz = 1": (
        "duly.toml: [[schedules]] 'x': zzz is unknown; expected some of after_completion, anchor, "
    ),
    "[[schedules]]\nkey = 'x'\nevery = '5s'\nretry = { max = 0 }": (
        "duly.toml: [[schedules]] 'x': retry.max is unknown; expected some of backoff, delay, "
    ),
    "[[schedules]]\nkey = 'x'\nevery = '5s'\ncatch_up = { polcy = 'all' }": (
        "duly.toml: [[schedules]] 'x': catch_up.polcy is unknown; did you mean catch_up.policy?"
    ),
    "[[schedules]]\nkey = 'x'\nevery = '5s'\n[[schedules]]\nkey = 'x'\nevery = '6s'": (
        "duly.toml: [[schedules]] 'x' is declared twice; give one of them another key"
    ),
}


@pytest.mark.parametrize("text, said", WRONG.items(), ids=[text.replace("\n", " ") for text in WRONG])
def test_a_wrong_file_is_told_where_what_and_what_instead(place: Place, text: str, said: str) -> None:
    place.write("duly.toml", text)
    refusal = place.refusal()
    assert refusal.startswith(said)
    assert "\n" not in refusal


def test_a_wrong_variable_is_named(place: Place) -> None:
    place.environment["DULY_API_PORT"] = "80a"
    assert place.refusal() == 'DULY_API_PORT is "80a"; expected a whole number 0-65535'


def test_a_wrong_flag_is_named(place: Place) -> None:
    with pytest.raises(ValidationFailed, match=r"^--port is 0\.5; expected a whole number 0-65535"):
        place.load({"api.port": 0.5})


def test_the_schema_is_that_of_the_url_or_of_the_setting(place: Place) -> None:
    place.write("duly.toml", "[database]\nurl = 'postgresql://h/a'\nschema = 'jobs'")
    assert place.load().database_url == "postgresql://h/a?schema=jobs"
    assert place.load({"database.url": "postgresql://h/a?schema=own"}).database_url == "postgresql://h/a?schema=own"
    assert place.load({"database.url": "sqlite:///x.db"}).database_url == "sqlite:///x.db"
    place.environment["DULY_DATABASE_SCHEMA"] = "Jobs"
    with pytest.raises(
        ValidationFailed, match=r'^DULY_DATABASE_SCHEMA is "Jobs"; expected 1 to 63 characters'
    ) as refused:
        place.load()
    assert (refused.value.path, refused.value.got) == ("DULY_DATABASE_SCHEMA", "Jobs")
    assert refused.value.hint == "choose a name such as 'duly' or 'shop_jobs'"


def test_a_file_that_was_named_must_exist(place: Place) -> None:
    assert place.refusal(config="no.toml") == "--config is 'no.toml', which cannot be read: No such file or directory"
    place.environment["DULY_CONFIG"] = "no.toml"
    assert place.refusal() == "DULY_CONFIG is 'no.toml', which cannot be read: No such file or directory"


def test_a_secret_may_lie_in_a_file(place: Place) -> None:
    secret = place.write("url", "postgresql://u:pw@h/d\n")
    place.environment["DULY_DATABASE_URL_FILE"] = str(secret)
    loaded = place.load()
    assert (loaded.database_url, loaded.origins["database.url"]) == ("postgresql://u:pw@h/d", "DULY_DATABASE_URL_FILE")
    place.environment["DULY_DATABASE_URL"] = "sqlite:///x.db"
    assert place.refusal() == "DULY_DATABASE_URL and DULY_DATABASE_URL_FILE are both set; keep one of them"
    del place.environment["DULY_DATABASE_URL"]
    secret.unlink()
    assert "DULY_DATABASE_URL_FILE is" in place.refusal()


@pytest.mark.parametrize(
    "url, shown",
    [
        ("postgresql://u:p@ss:w@h/d", "postgresql://u:***@h/d"),
        ("postgresql://u@h/d", "postgresql://u@h/d"),
        ("postgresql://h/d?user=u&password=pw&x=1", "postgresql://h/d?user=u&password=***&x=1"),
        ("sqlite:///duly.db", "sqlite:///duly.db"),
    ],
)
def test_no_row_shows_a_secret(place: Place, url: str, shown: str) -> None:
    place.environment |= {"DULY_DATABASE_URL": url, "DULY_API_KEY": "duly_live_abc"}
    rows = {row.name: row.value for row in place.load().rows()}
    assert rows["database.url"] == shown
    assert rows["api.key"] == "***"


def test_every_value_has_a_row_with_its_origin(place: Place) -> None:
    place.write("duly.toml", "poll = 2\n[[schedules]]\nkey = 'x'\nevery = '5s'\njob = 'j'")
    rows = {row.name: (row.value, row.origin) for row in place.load().rows()}
    assert rows["poll"] == (2, "duly.toml")
    assert rows["lease"] == (15, "default")
    assert rows["schedules"] == (["x"], "duly.toml")


def test_variables_of_other_tools_are_passed_over(place: Place) -> None:
    services = dict.fromkeys(("DULY_API_PORT", "DULY_PORT"), "tcp://10.0.0.1:8080")
    place.environment |= services | {"DATABASE_URL": "mysql://u:p@h/d"}
    loaded = place.load()
    assert (loaded["api.port"], loaded.database_url) == (8080, "sqlite:///duly.db")
    assert loaded.warnings == (
        "DATABASE_URL is of a database that duly does not speak and was passed over; set DULY_DATABASE_URL",
    )
    place.environment["DATABASE_URL"] = "postgres://u:p@h/d"
    assert place.load().database_url == "postgres://u:p@h/d"


def test_a_misspelt_variable_is_told_and_a_foreign_one_is_not(place: Place) -> None:
    place.environment |= {"DULY_DATABSE_URL": "x", "DULY_VENV": "x"}
    assert place.load().warnings == (
        "environment variable DULY_DATABSE_URL is unknown; did you mean DULY_DATABASE_URL?",
    )


@rule("S0.10")
def test_declared_schedules_become_the_arguments_of_create(place: Place) -> None:
    place.write(
        "duly.toml",
        """
        min_interval_ms = 100
        [[schedules]]
        key = "nightly"
        cron = "0 2 * * *"
        timezone = "America/Sao_Paulo"
        job = "report"
        payload = {rows = 3}
        retry = {max_attempts = 5}
        [[schedules]]
        key = "often"
        every = "100ms"
        job = "tick"
        tags = ["a"]
        """,
    )
    nightly, often = place.load().schedules
    assert nightly == {
        "key": "nightly",
        "timing": Cron("0 2 * * *", "America/Sao_Paulo"),
        "job": "report",
        "payload": {"rows": 3},
        "retry": Retry(max_attempts=5),
    }
    assert often == {"key": "often", "timing": Every(milliseconds=100, minimum_ms=100), "job": "tick", "tags": ["a"]}


def test_a_file_knows_every_word_of_create() -> None:
    assert WORDS - set(signature(timing_from).parameters) == (SCHEDULE_WORDS - {"timing"}) | {"sync"}


def test_of_two_files_with_one_key_the_stronger_holds(place: Place) -> None:
    place.write("duly.toml", "[[schedules]]\nkey = 'x'\nevery = '5s'\n[[schedules]]\nkey = 'y'\nevery = '5s'")
    named = place.write("named.toml", "[[schedules]]\nkey = 'x'\nevery = '7s'")
    assert [(item["key"], item["timing"]) for item in place.load(config=named).schedules] == [
        ("x", Every("7s")),
        ("y", Every("5s")),
    ]


def test_debugging_and_colour_are_asked_of_the_environment() -> None:
    assert [debugging({"DULY_DEBUG": word}) for word in ("1", "true", "0", "")] == [True, True, False, False]
    assert wants_colour(True, {})
    assert not wants_colour(False, {})
    assert wants_colour(False, {"FORCE_COLOR": "1"})
    assert not wants_colour(True, {"NO_COLOR": "1"})


def test_targets_come_from_files_and_the_environment(place: Place) -> None:
    place.write(
        "duly.toml",
        '[targets.notification-queue]\nurl = "redis://user:hunter2@one/0"\n[targets.Big_One]\nurl = "redis://two/0"',
    )
    place.environment["DULY_TARGETS__BIG_ONE__URL"] = "redis://three/0"
    place.environment["DULY_TARGETS__FROM_HERE__URL_FILE"] = str(place.write("secret", "redis://four/0\n"))
    loaded = place.load()
    assert {name: (target.url, target.origin) for name, target in loaded.targets.items()} == {
        "notification-queue": ("redis://user:hunter2@one/0", "duly.toml"),
        "Big_One": ("redis://three/0", "DULY_TARGETS__BIG_ONE__URL"),
        "from-here": ("redis://four/0", "DULY_TARGETS__FROM_HERE__URL_FILE"),
    }
    assert "hunter2" not in str(loaded.rows())
    assert not loaded.warnings


def test_a_target_may_be_for_some_owners_and_tenants_only(place: Place) -> None:
    place.write("duly.toml", '[targets.mail]\nurl = "redis://one/0"\nowners = ["bob", "ann"]\ntenants = ["acme"]')
    place.environment["DULY_TARGETS__MAIL__URL"] = "redis://two/0"
    loaded = place.load()
    mail = loaded.targets["mail"]
    assert (mail.url, mail.grant) == ("redis://two/0", Grant(frozenset({"ann", "bob"}), frozenset({"acme"})))
    shown = {row.name: row.value for row in loaded.rows() if row.name.startswith("targets")}
    assert (shown["targets.mail.owners"], shown["targets.mail.tenants"]) == (["ann", "bob"], ["acme"])


@pytest.mark.parametrize(
    "toml, environment, told",
    [
        ("targets = 7", {}, "targets is 7; expected a section [targets.NAME] for each"),
        ("[targets]\nmail = 'redis://x'", {}, "[targets.mail] has no section; expected one key, url"),
        ("[targets.mail]", {}, "[targets.mail] has nothing; expected one key, url"),
        ("[targets.mail]\nurl = 7", {}, "[targets.mail] has url; expected one key, url"),
        ("[targets.mail]\nurl = 'x://y'\nstream = 's'", {}, "[targets.mail] has url, stream; expected one key, url"),
        ("[targets.mail]\nurl = 'x://y'\nowners = []", {}, "[targets.mail] owners is []; expected names"),
        ("[targets.mail]\nurl = 'x://y'\ntenants = 'a'", {}, "[targets.mail] tenants is 'a'; expected names"),
        ("", {"DULY_TARGETS__MAIL": "x"}, "DULY_TARGETS__MAIL is unknown; expected DULY_TARGETS__NAME__URL"),
        ("", {"DULY_TARGETS__MAIL__URL_FILE": "/no/such"}, "DULY_TARGETS__MAIL__URL_FILE is '/no/such', which cannot"),
        (
            "",
            {"DULY_TARGETS__A_B__URL": "x://y", "DULY_TARGETS__A_B__URL_FILE": "/dev/null"},
            "DULY_TARGETS__A_B__URL and DULY_TARGETS__A_B__URL_FILE are both set; keep one of them",
        ),
    ],
)
def test_a_target_that_is_not_one_is_refused(place: Place, toml: str, environment: dict[str, str], told: str) -> None:
    place.write("duly.toml", toml)
    place.environment |= environment
    assert told in place.refusal()
