"""A database with the tables that the migrations of django-celery-beat 2.9 make; tests/apart holds them to that."""

import re
from typing import Any

import apsw
import psycopg
from psycopg import sql

DDL = """
CREATE TABLE django_celery_beat_intervalschedule (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT, every integer NOT NULL, period varchar(24) NOT NULL);
CREATE TABLE django_celery_beat_solarschedule (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT, event varchar(24) NOT NULL, latitude decimal NOT NULL,
    longitude decimal NOT NULL);
CREATE TABLE django_celery_beat_clockedschedule (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT, clocked_time datetime NOT NULL);
CREATE TABLE django_celery_beat_crontabschedule (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT, minute varchar(240) NOT NULL, hour varchar(96) NOT NULL,
    day_of_week varchar(64) NOT NULL, day_of_month varchar(124) NOT NULL, month_of_year varchar(64) NOT NULL,
    timezone varchar(63) NOT NULL);
CREATE TABLE django_celery_beat_periodictask (
    id integer NOT NULL PRIMARY KEY AUTOINCREMENT, name varchar(200) NOT NULL UNIQUE, task varchar(200) NOT NULL,
    args text NOT NULL, kwargs text NOT NULL, queue varchar(200) NULL, exchange varchar(200) NULL,
    routing_key varchar(200) NULL, expires datetime NULL, enabled bool NOT NULL, last_run_at datetime NULL,
    total_run_count integer NOT NULL, date_changed datetime NOT NULL, description text NOT NULL,
    crontab_id integer NULL, interval_id integer NULL, solar_id integer NULL, one_off bool NOT NULL,
    start_time datetime NULL, priority integer NULL, headers text NOT NULL, clocked_id integer NULL,
    expire_seconds integer NULL);
"""
TASK = {
    "args": "[]", "kwargs": "{}", "enabled": True, "total_run_count": 0, "date_changed": "2026-01-01 00:00:00",
    "description": "", "one_off": False, "headers": "{}",
}  # fmt: skip


def columns() -> dict[str, set[str]]:
    """The columns of each table."""
    found = {}
    for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\);", DDL, re.DOTALL):
        flat = re.sub(r"\(\d+\)", "", " ".join(body.split()))
        found[table] = {part.split()[0] for part in flat.split(", ")}
    return found


class Beat:
    """The tables at a URL, and rows in them."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.connection: Any
        if url.startswith("sqlite"):
            self.connection = apsw.Connection(url.removeprefix("sqlite:///"))
            self.connection.execute(DDL)
        else:
            self.connection = psycopg.connect(url, autocommit=True)
            text = DDL.replace("integer NOT NULL PRIMARY KEY AUTOINCREMENT", "serial PRIMARY KEY")
            self.connection.execute(text.replace(" datetime ", " timestamp with time zone ").encode())

    def add(self, table: str, **values: Any) -> None:
        name = f"django_celery_beat_{table}"
        if table == "periodictask":
            values = {**TASK, **values}
        if isinstance(self.connection, apsw.Connection):
            marks = ", ".join("?" * len(values))
            self.connection.execute(
                f"INSERT INTO {name} ({', '.join(values)}) VALUES ({marks})", tuple(values.values())
            )
        else:
            given = {key: f"{value}+00" if _is_time(key) else value for key, value in values.items()}
            statement = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                sql.Identifier(name),
                sql.SQL(", ").join(map(sql.Identifier, given)),
                sql.SQL(", ").join([sql.Placeholder()] * len(given)),
            )
            self.connection.execute(statement, tuple(given.values()))

    def close(self) -> None:
        self.connection.close()


def _is_time(column: str) -> bool:
    return column.endswith(("_time", "_at", "_changed")) or column == "expires"


def fill(beat: Beat) -> None:
    """One row of every kind that there is."""
    daily = {"minute": "30", "hour": "3", "day_of_week": "mon-fri", "day_of_month": "*", "month_of_year": "*"}
    both = {"minute": "0", "hour": "0", "day_of_week": "fri", "day_of_month": "13", "month_of_year": "*"}
    beat.add("crontabschedule", id=1, **daily, timezone="Asia/Tokyo")
    beat.add("crontabschedule", id=2, **both, timezone="UTC")
    beat.add("intervalschedule", id=1, every=10, period="minutes")
    beat.add("intervalschedule", id=2, every=500_000, period="microseconds")
    beat.add("clockedschedule", id=1, clocked_time="2099-01-01 08:30:00")
    beat.add("clockedschedule", id=2, clocked_time="2020-01-01 00:00:00")
    beat.add("solarschedule", id=1, event="sunset", latitude=52, longitude=13)
    beat.add(
        "periodictask",
        name="Daily report",
        task="shop.report",
        crontab_id=1,
        kwargs='{"full": true}',
        queue="mail",
        enabled=False,
        description="for the boss",
        expire_seconds=60,
        priority=5,
    )
    beat.add(
        "periodictask",
        name="poll",
        task="shop.poll",
        interval_id=1,
        start_time="2099-01-01 00:00:00",
        expires="2099-02-01 00:00:00.250000",
        args="[1, 2]",
    )
    beat.add("periodictask", name="first", task="shop.first", interval_id=1, one_off=True)
    beat.add("periodictask", name="did", task="shop.did", interval_id=1, one_off=True, total_run_count=1)
    beat.add("periodictask", name="once", task="shop.once", clocked_id=1, one_off=True)
    beat.add("periodictask", name="gone", task="shop.gone", clocked_id=2, one_off=True)
    beat.add("periodictask", name="expired", task="shop.expired", interval_id=1, expires="2020-01-01 00:00:00")
    beat.add("periodictask", name="sun", task="shop.sun", solar_id=1)
    beat.add("periodictask", name="13th", task="shop.both", crontab_id=2)
    beat.add("periodictask", name="quick", task="shop.quick", interval_id=2)
    beat.add("periodictask", name="mixed", task="shop.mixed", interval_id=1, args="[1]", kwargs='{"b": 2}')
    beat.add("periodictask", name="broken", task="shop.broken", interval_id=1, kwargs="{not json")


LEFT = {
    "did": "it was to run once, and did",
    "gone": "it was to fire once, at 2020-01-01T00:00:00",
    "expired": "it expired at 2020-01-01T00:00:00",
    "sun": "it follows the sun (sunset)",
    "13th": "Celery fires where both agree",
    "quick": "its interval is 0.5 s",
    "mixed": "by position",
    "broken": "not JSON",
}
"""What cannot be carried over, and why."""
