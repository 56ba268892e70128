"""The setting ``DULY``: what is wrong is named, and Django's words for a database become its URL."""

from pathlib import Path
from typing import Any

import pytest
from psycopg.conninfo import conninfo_to_dict


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([1], r"DULY is \[1\]; expected a dictionary"),
        ({"DATABSE": "default"}, "DULY has 'DATABSE'; expected some of DATABASE, URL"),
        ({"DATABASE": 3}, r"DULY\['DATABASE'\] is 3; expected text"),
        ({"URL": ""}, r"DULY\['URL'\] is ''; expected text"),
        ({"DATABASE": "default", "URL": "sqlite:///x.db"}, "both DATABASE and URL"),
        ({"DATABASE": "nowhere"}, r"DULY\['DATABASE'\] is 'nowhere'; expected one of DATABASES: 'default'"),
        ({"SCHEMA": "My Jobs"}, r"DULY\['SCHEMA'\] is 'My Jobs'; expected 1 to 63 characters of a-z, 0-9 and _"),
        ({"JOBS": "my jobs"}, r"DULY\['JOBS'\] is 'my jobs'"),
        ({"TARGETS": ["redis://x"]}, r"DULY\['TARGETS'\] is \['redis://x'\]; expected a dictionary"),
        ({"SETTINGS": {"lease": -1}}, r"DULY\['SETTINGS'\]: setting lease is -1"),
        ({"SETTINGS": {"leese": 3}}, r"DULY\['SETTINGS'\]: .*leese"),
    ],
)
def test_a_wrong_setting_is_named(django: Any, given: Any, told: str) -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.test import override_settings

    from duly.integrations.django import scheduler

    with override_settings(DULY=given), pytest.raises(ImproperlyConfigured, match=told):
        scheduler()


def test_a_file_that_django_opens_too_is_refused(reach: Any, tmp_path: Path) -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.test import override_settings

    from duly.integrations.django import scheduler

    reach("mine", {"NAME": tmp_path / "db.sqlite3"})
    with (
        override_settings(DULY={"URL": f"sqlite:////{tmp_path}/x/../db.sqlite3"}),
        pytest.raises(ImproperlyConfigured, match=r"the file of DATABASES\['mine'\].*locks.*db\.duly\.sqlite3"),
    ):
        scheduler()
    with override_settings(DULY={"DATABASE": "mine"}):
        assert scheduler().url == f"sqlite:////{str(tmp_path).lstrip('/')}/db.duly.sqlite3"


@pytest.mark.parametrize("name", [":memory:", "file:memorydb_default?mode=memory&cache=shared"])
def test_a_database_in_memory_has_nothing_beside_it(reach: Any, name: str) -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.test import override_settings

    from duly.integrations.django import scheduler

    reach("fleeting", {"NAME": name})
    with (
        override_settings(DULY={"DATABASE": "fleeting"}),
        pytest.raises(ImproperlyConfigured, match=r"give DULY\['URL'\] a file"),
    ):
        scheduler()


POSTGRES = {"ENGINE": "django.db.backends.postgresql", "NAME": "shop", "OPTIONS": {}}


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ({}, {"dbname": "shop"}),
        (
            {"USER": "a@b", "PASSWORD": "p/w: %?#", "HOST": "db.example", "PORT": 5433},
            {"user": "a@b", "password": "p/w: %?#", "host": "db.example", "port": "5433", "dbname": "shop"},
        ),
        ({"HOST": "/var/run/postgresql"}, {"host": "/var/run/postgresql", "dbname": "shop"}),
        ({"HOST": "a,b", "PORT": "1,2"}, {"host": "a,b", "port": "1,2", "dbname": "shop"}),
        ({"HOST": "a,b", "PORT": "1"}, {"host": "a,b", "port": "1,1", "dbname": "shop"}),
        (
            {"OPTIONS": {"sslmode": "require", "options": "-c search_path=a,b", "pool": True, "prepare_threshold": 3}},
            {"sslmode": "require", "options": "-c search_path=a,b", "dbname": "shop"},
        ),
        ({"OPTIONS": {"assume_role": "teller"}}, {"options": "-c role=teller", "dbname": "shop"}),
        ({"NAME": "", "OPTIONS": {"service": "shop"}}, {"service": "shop"}),
    ],
)
def test_django_s_words_for_postgres_become_a_url(reach: Any, words: Any, meant: dict[str, str]) -> None:
    from duly.integrations.django.databases import url_of
    from duly.integrations.django.options import Options

    reach("there", {**POSTGRES, **words})
    assert conninfo_to_dict(url_of(Options(database="there"))) == meant


def test_the_schema_is_in_the_url(reach: Any) -> None:
    from duly.integrations.django.databases import url_of
    from duly.integrations.django.options import Options

    reach("there", POSTGRES)
    assert url_of(Options(database="there", schema="jobs")).endswith("/shop?schema=jobs")
    assert url_of(Options(url="postgresql://h/a", schema="jobs")) == "postgresql://h/a?schema=jobs"
    assert url_of(Options(url="postgresql://h/a?schema=own", schema="jobs")) == "postgresql://h/a?schema=own"


def test_hosts_and_ports_that_do_not_pair_are_refused(reach: Any) -> None:
    from django.core.exceptions import ImproperlyConfigured

    from duly.integrations.django.databases import url_of
    from duly.integrations.django.options import Options

    reach("there", {**POSTGRES, "HOST": "a,b,c", "PORT": "1,2"})
    with pytest.raises(ImproperlyConfigured, match="3 hosts and 2 ports"):
        url_of(Options(database="there"))


def test_another_kind_of_database_is_refused_by_name(reach: Any) -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.db import connections

    from duly.integrations.django.databases import url_of
    from duly.integrations.django.options import Options

    reach("odd", {"NAME": "x"})
    connections["odd"].vendor, connections["odd"].display_name = "mysql", "MySQL"
    with pytest.raises(ImproperlyConfigured, match=r"DATABASES\['odd'\] is of MySQL"):
        url_of(Options(database="odd"))


def test_the_app_is_made_once_and_anew_for_other_settings(django: Any, tmp_path: Path) -> None:
    from django.test import override_settings

    from duly.integrations.django import scheduler

    with override_settings(DULY={"URL": f"sqlite:////{tmp_path}/a.db"}):
        first = scheduler()
        assert scheduler() is first
    with override_settings(DULY={"URL": f"sqlite:////{tmp_path}/b.db"}):
        assert scheduler() is not first


def test_it_must_be_installed(django: Any) -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.test import modify_settings

    from duly.integrations.django import scheduler

    with (
        modify_settings(INSTALLED_APPS={"remove": ["duly.integrations.django"]}),
        pytest.raises(ImproperlyConfigured, match="INSTALLED_APPS"),
    ):
        scheduler()


def test_no_migration_is_missing_and_dumps_pass_duly_by(shop: Any, capsys: pytest.CaptureFixture[str]) -> None:
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)
    shop.orders.create()
    call_command("dumpdata", "duly", "orders", all=True, database=shop.using)
    assert '"model": "orders.order"' in capsys.readouterr().out
