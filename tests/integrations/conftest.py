"""The Django project of the examples inside this process, on SQLite and on PostgreSQL."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.databases import fresh_database
from tests.store_choice import EACH_STORE

SHOP = Path(__file__).parents[2] / "examples" / "django_shop"


@pytest.fixture(scope="session")
def django(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Django, set up for the project: once in a process is all it allows."""
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "storefront.settings"
    os.environ["SHOP_FOLDER"] = str(tmp_path_factory.mktemp("shop"))
    sys.path.insert(0, str(SHOP))
    django.setup()
    return django


def words_of(url: str) -> dict[str, Any]:
    """A PostgreSQL URL in Django's words."""
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": {},
    }


@contextmanager
def aliased(alias: str, words: dict[str, Any]) -> Iterator[None]:
    """One more of ``DATABASES``."""
    from django.db import connections

    connections.settings[alias] = {**connections.settings["default"], **words}
    yield
    connections[alias].close()
    del connections[alias], connections.settings[alias]


@pytest.fixture
def reach(django: Any) -> Iterator[Callable[[str, dict[str, Any]], None]]:
    """Add one of ``DATABASES`` for the time of a test."""
    with ExitStack() as stack:
        yield lambda alias, words: stack.enter_context(aliased(alias, words))


def migrate(alias: str, words: dict[str, Any]) -> None:
    """Make all tables of the project, and duly's where they belong."""
    from django.core.management import call_command
    from django.test import override_settings

    with aliased(alias, words), override_settings(DULY={"DATABASE": alias}):
        call_command("migrate", database=alias, verbosity=0)


@pytest.fixture(scope="session")
def migrated_file(django: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once and copied: a migration takes longer than a test."""
    file = tmp_path_factory.mktemp("migrated") / "shop.sqlite3"
    migrate("migrated", {"NAME": file})
    return file


@pytest.fixture(scope="session")
def migrated_postgres(django: Any, postgres_url: str) -> Iterator[str]:
    with fresh_database(postgres_url) as url:
        migrate("migrated", words_of(url))
        yield url.rpartition("/")[2]


class Shop:
    """The project on one database: ``using`` is its alias."""

    def __init__(self, using: str) -> None:
        self.using = using

    @property
    def orders(self) -> Any:
        from orders.models import Order

        return Order.objects.using(self.using)

    @property
    def sync(self) -> Any:
        from duly.integrations.django import scheduler

        return scheduler().sync


@pytest.fixture(params=EACH_STORE)
def shop(request: pytest.FixtureRequest, tmp_path: Path, django: Any) -> Iterator[Shop]:
    """A shop whose tables are there, and empty."""
    from django.test import override_settings

    from duly.integrations.django import scheduler

    alias = f"of_{request.param}"
    with ExitStack() as stack:
        if request.param == "sqlite":
            file = shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "shop.sqlite3")
            words: dict[str, Any] = {"NAME": file}
        else:
            template = request.getfixturevalue("migrated_postgres")
            url = stack.enter_context(fresh_database(request.getfixturevalue("postgres_url"), template))
            words = words_of(url)
        stack.enter_context(aliased(alias, words))
        stack.enter_context(override_settings(DULY={"DATABASE": alias, "NAME": "shop"}, ALLOWED_HOSTS=["testserver"]))
        stack.callback(lambda: scheduler().sync.close())
        yield Shop(alias)
