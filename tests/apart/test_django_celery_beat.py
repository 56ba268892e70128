"""``duly import celery URL`` on tables and rows that django-celery-beat itself made."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

pytest.importorskip("django_celery_beat", reason="server absent: django-celery-beat: run scripts/test-apart")

from duly.cli import main
from tests.acceptance.rules import rule
from tests.cli.beat import columns

PROGRAM = """
import json, sys
import django
from django.conf import settings

settings.configure(
    INSTALLED_APPS=["django_celery_beat"], USE_TZ=True, SECRET_KEY="x", DATABASES={"default": json.loads(sys.argv[1])}
)
django.setup()
from datetime import datetime, timezone
from django.core.management import call_command
from django.db import connection
from django_celery_beat.models import ClockedSchedule, CrontabSchedule, IntervalSchedule, PeriodicTask, SolarSchedule

call_command("migrate", verbosity=0)
tokyo = CrontabSchedule.objects.create(minute="30", hour="3", day_of_week="mon-fri", timezone="Asia/Tokyo")
ten = IntervalSchedule.objects.create(every=10, period=IntervalSchedule.MINUTES)
once = ClockedSchedule.objects.create(clocked_time=datetime(2099, 1, 1, 8, 30, tzinfo=timezone.utc))
sun = SolarSchedule.objects.create(event="sunset", latitude=52, longitude=13)
make = PeriodicTask.objects.create
make(name="Daily report", task="shop.report", crontab=tokyo, kwargs='{"full": true}', queue="mail", enabled=False)
begin = datetime(2099, 1, 1, tzinfo=timezone.utc)
make(name="poll", task="shop.poll", interval=ten, start_time=begin, expire_seconds=9)
make(name="once", task="shop.once", clocked=once, one_off=True)
make(name="sun", task="shop.sun", solar=sun)
with connection.cursor() as cursor:
    tables = connection.introspection.table_names(cursor)
    print(json.dumps({table: [column.name for column in connection.introspection.get_table_description(cursor, table)]
                      for table in tables if table.startswith("django_celery_beat_")}))
"""


@rule("Celery")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_its_own_rows_are_carried_over(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    words: dict[str, Any]
    if kind == "sqlite":
        url = f"sqlite:///{tmp_path / 'django.db'}"
        words = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(tmp_path / "django.db")}
    else:
        from tests.integrations.conftest import words_of

        url = request.getfixturevalue("fresh_postgres")
        words = words_of(url)
    made = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(words)], capture_output=True, text=True, timeout=100, check=False
    )
    assert made.returncode == 0, made.stderr
    real = {table: set(names) for table, names in json.loads(made.stdout).items()}
    assert {table: real[table] for table in columns()} == columns(), "what the other tests make is what it makes"
    said = CliRunner().invoke(main, ["import", "celery", url, "--dry-run", "--allow-partial", "-o", "json"])
    assert said.exit_code == 0, said.stderr
    answer = json.loads(said.stdout)
    found = {one["key"]: one for one in answer["schedules"]}
    assert set(found) == {"Daily-report", "poll", "once"}
    assert [one["place"] for one in answer["notCarriedOver"]] == ["sun"]
    daily = found["Daily-report"]
    assert (daily["cronExpression"], daily["timezone"]) == ("30 3 * * MON-FRI", "Asia/Tokyo")
    assert (daily["enabled"], daily["queue"], daily["jobPayload"]) == (False, "mail", {"full": True})
    assert (found["poll"]["everyMs"], found["poll"]["startAt"]) == (600_000, "2099-01-01T00:00:00Z")
    assert found["once"]["onceAt"] == "2099-01-01T08:30:00Z"
