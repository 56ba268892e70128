"""``duly import celery URL``: the tables of django-celery-beat, read from SQLite and PostgreSQL without Django."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from duly.cli.importing.values import interval
from tests.acceptance.rules import rule
from tests.cli.beat import LEFT, Beat, fill
from tests.cli.conftest import Duly


@pytest.fixture
def beat(store_url: str) -> Iterator[Beat]:
    beat = Beat(store_url.replace("store.db", "django.db"))
    fill(beat)
    yield beat
    beat.close()


def imported(said: Any) -> tuple[dict[str, Any], dict[str, str]]:
    answer = json.loads(said.stdout)
    left = {one["place"]: one["reason"] for one in answer["notCarriedOver"]}
    return {one["key"]: one for one in answer["schedules"]}, left


@rule("Celery")
def test_every_kind_of_row_is_carried_over_or_told(duly: Duly, beat: Beat) -> None:
    said = duly("import", "celery", beat.url, "--dry-run", "--allow-partial", "-o", "json")
    assert said.exit_code == 0, said.stderr
    found, left = imported(said)
    assert set(left) == {*LEFT, "poll"}
    for name, reason in LEFT.items():
        assert reason in left[name], name
    assert "by position, [1, 2]" in left["poll"]
    assert set(found) == {"Daily-report", "first", "once"}
    daily = found["Daily-report"]
    assert (daily["cronExpression"], daily["timezone"]) == ("30 3 * * MON-FRI", "Asia/Tokyo")
    assert (daily["jobType"], daily["jobPayload"], daily["queue"], daily["priority"]) == (
        "shop.report", {"full": True}, "mail", 5
    )  # fmt: skip
    assert (daily["enabled"], daily["description"]) == (False, "for the boss")
    assert daily["catchUp"] == {"policy": "latest", "maxLatenessSeconds": 60.0}
    assert (found["first"]["everyMs"], found["first"]["maxRuns"]) == (interval(600_000), 1)
    assert found["once"]["onceAt"] == "2099-01-01T08:30:00Z"
    assert ("have no offset" in said.stderr) == beat.url.startswith("sqlite")
    assert not Path("duly.db").exists()


def test_with_a_target_celery_s_workers_go_on(duly: Duly, beat: Beat) -> None:
    said = duly("import", "celery", beat.url, "--target", "celery", "--allow-partial", "--paused", "-o", "json")
    assert said.exit_code == 0, said.stderr
    found, left = imported(said)
    assert set(left) == set(LEFT)
    poll = found["poll"]
    assert poll["target"] == {"kind": "queue", "name": "celery", "headers": {"task": "shop.poll"}}
    assert poll["jobPayload"] == [1, 2]
    assert (poll["startAt"], poll["endAt"]) == ("2099-01-01T00:00:00Z", "2099-02-01T00:00:00.250000Z")
    listed = json.loads(duly("schedule", "list", "-o", "json").stdout)["items"]
    assert {one["key"]: one["enabled"] for one in listed} == dict.fromkeys(
        ("Daily-report", "poll", "first", "once"), False
    )
    again = json.loads(duly("import", "celery", beat.url, "--target", "celery", "--allow-partial", "-o", "json").stdout)
    assert {item["outcome"] for item in again["items"]} <= {"unchanged", "changed"}
    assert "shop.poll (celery)" in duly("import", "celery", beat.url, "--target", "celery", "--dry-run").stdout


def test_nothing_is_imported_while_something_is_left(duly: Duly, beat: Beat) -> None:
    said = duly("import", "celery", beat.url)
    assert said.exit_code == 1
    assert "--allow-partial" in said.stderr
    assert not Path("duly.db").exists()


def test_a_database_without_its_tables_is_refused(duly: Duly, store_url: str) -> None:
    if store_url.startswith("sqlite"):
        Beat(store_url).connection.execute("DROP TABLE django_celery_beat_periodictask")
    said = duly("import", "celery", store_url, "--dry-run")
    assert said.exit_code == 2
    assert "django_celery_beat_periodictask" in said.stderr
    assert "expected a database that its migrations made" in said.stderr


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("sqlite:///nowhere.db", "there is no file 'nowhere.db'"),
        ("postgresql://user:secret@127.0.0.1:1/shop", "cannot be read"),
    ],
)
def test_a_database_that_is_not_there_is_said_so(duly: Duly, url: str, told: str) -> None:
    said = duly("import", "celery", url, "--dry-run")
    assert (said.exit_code, told in said.stderr) == (69, True)
    assert "secret" not in said.stderr
    assert not Path("nowhere.db").exists()


def test_an_empty_table_says_what_was_expected(duly: Duly, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'empty.db'}"
    Beat(url).close()
    said = duly("import", "celery", url, "--dry-run")
    assert (said.exit_code, "periodictask" in said.stderr) == (2, True)
