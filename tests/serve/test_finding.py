"""``--app``: what may be named, and how an operator's word and the app's own go together."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from duly import Duly, Settings
from duly.app.finding import find_app
from duly.app.serving import prepare
from duly.config import load
from duly.core.errors import ConfigurationError

CODE = """
import duly
app = duly.Duly("sqlite:///own.db", settings=duly.Settings(poll=0.3))
open_ended = duly.Duly()

@app.every("1h", name="hourly")
async def hourly(): ...

class Holder:
    app = app

def make():
    return duly.Duly("sqlite:///made.db")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delenv("DULY_DATABASE_URL", raising=False)
    (tmp_path / "found_by_tests.py").write_text(CODE)
    yield tmp_path
    sys.modules.pop("found_by_tests", None)


@pytest.mark.parametrize(
    "name, url",
    [("app", "sqlite:///own.db"), ("Holder.app", "sqlite:///own.db"), ("make", "sqlite:///made.db")],
)
def test_an_attribute_or_a_function_that_makes_one_is_found(folder: Path, name: str, url: str) -> None:
    assert find_app(f"found_by_tests:{name}", folder).url == url


def test_a_module_alone_means_its_app(folder: Path) -> None:
    assert find_app("found_by_tests", folder).url == "sqlite:///own.db"


def test_a_class_is_not_an_app(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"is the class Holder; expected a Duly"):
        find_app("found_by_tests:Holder", folder)


def test_the_app_s_own_url_and_settings_hold_unless_a_flag_says_otherwise(folder: Path) -> None:
    environment = {"DULY_DATABASE_URL": "sqlite:///env.db", "DULY_POLL": "2", "DULY_ROLES": "worker"}
    app = prepare(find_app("found_by_tests:app", folder), load(environment=environment, folder=folder))
    assert (app.url, app.settings.poll, app._roles) == ("sqlite:///own.db", 0.3, ("worker",))
    flagged = load({"database.url": "sqlite:///flag.db"}, environment=environment, folder=folder)
    assert prepare(app, flagged).url == "sqlite:///flag.db"
    left_open = prepare(find_app("found_by_tests:open_ended", folder), load(environment=environment, folder=folder))
    assert (left_open.url, left_open.settings.poll) == ("sqlite:///env.db", 2)


async def test_what_was_declared_moves_with_the_app(tmp_path: Path) -> None:
    app = Duly("sqlite:////nowhere/x.db", settings=Settings(poll=0.1))

    @app.every("1h", name="hourly")
    async def hourly() -> None: ...

    (tmp_path / "duly.toml").write_text("[[schedules]]\nkey = 'daily'\ndaily = '02:00'\njob = 'hourly'\n")
    prepare(app, load({"database.url": f"sqlite:///{tmp_path / 'x.db'}"}, environment={}, folder=tmp_path))
    async with app:
        assert {schedule.key for schedule in (await app.schedules.list()).items} == {"hourly", "daily"}
