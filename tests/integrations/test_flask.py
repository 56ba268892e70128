"""The Flask extension: configuration, context, commands, and what web workers may do."""

import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, current_app, g

import duly
from duly.core.errors import ConfigurationError
from duly.integrations.flask import DulyFlask
from tests.acceptance.rules import rule
from tests.app.conftest import QUICK


def app_on(folder: Path, **config: Any) -> Flask:
    app = Flask("shop")
    app.config |= {"DULY_DATABASE_URL": f"sqlite:////{folder}/duly.db", **config}
    return app


@rule("Flask")
async def test_jobs_of_every_kind_run_inside_the_app_s_context(tmp_path: Path) -> None:
    scheduler, blueprint_s = DulyFlask(), duly.Jobs()
    torn_down: list[str] = []

    @scheduler.job()
    def in_a_thread(user: int) -> str:
        g.user = user
        return f"{current_app.name} {g.user}"

    @scheduler.job()
    async def on_the_loop() -> str:
        return f"{current_app.name} {g.get('user')}"

    @blueprint_s.job()
    def of_a_blueprint() -> str:
        return str(scheduler.sync.schedules.list().items)

    app = app_on(tmp_path)
    scheduler.include(blueprint_s)
    scheduler.init_app(app)
    app.teardown_appcontext(lambda error: torn_down.append(str(g.get("user"))))
    with app.app_context():
        made = scheduler.app
    torn_down.clear()
    async with made:
        for call, result in (
            (in_a_thread.bind(user=7), "shop 7"),
            (on_the_loop.bind(), "shop None"),
            (of_a_blueprint.bind(), "[]"),
        ):
            run = await made.enqueue(call)
            assert (await made.runs.wait(run.id, timeout=30)).result == result
    assert torn_down == ["7", "None", "None"], "one context for each run"


def test_views_ask_and_the_commands_are_duly_s_own(tmp_path: Path) -> None:
    app = app_on(tmp_path)
    scheduler = DulyFlask(app)

    @scheduler.job()
    def work(user: int) -> None: ...

    @app.post("/<int:user>")
    def ask(user: int) -> dict[str, str]:
        return {"run": scheduler.sync.enqueue(work.bind(user=user)).id}

    run = app.test_client().post("/7").json["run"]  # type: ignore[index]
    said = app.test_cli_runner().invoke(args=["duly", "run", "get", run, "-o", "json"])
    assert said.exit_code == 0
    assert json.loads(said.stdout)["jobType"] == "work"
    assert app.test_cli_runner().invoke(args=["duly", "run", "get", "nope"]).exit_code == 3
    assert "Usage: flask duly" in app.test_cli_runner().invoke(args=["duly", "--help"]).output


def test_each_app_has_its_own(tmp_path: Path) -> None:
    scheduler = DulyFlask()

    @scheduler.job()
    def work() -> None: ...

    apps = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        apps.append(app_on(tmp_path / name, DULY_NAME=name))
        scheduler.init_app(apps[-1])
    with apps[0].app_context():
        scheduler.sync.enqueue("work")
    with apps[1].app_context():
        assert scheduler.app.name == "two"
        assert scheduler.sync.runs.list().items == []


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ({"DULY_DATABASE_URL": 3}, "DULY_DATABASE_URL of Flask app 'shop' is 3; expected text"),
        ({"DULY_DATABASE_URL": "mysql://x"}, "DULY_DATABASE_URL.*'mysql'"),
        ({"DULY_TARGETS": "redis://x"}, "DULY_TARGETS.*expected a dictionary"),
        ({"DULY_SETTINGS": {"leese": 1}}, "DULY_SETTINGS.*leese"),
        ({"DULY_SETTINGS": {"lease": -1}}, "DULY_SETTINGS.*setting lease is -1"),
        ({"DULY_NAME": ""}, "DULY_NAME of Flask app 'shop' is ''"),
    ],
)
def test_a_wrong_key_is_named(tmp_path: Path, config: dict[str, Any], told: str) -> None:
    app = app_on(tmp_path, **config)
    with pytest.raises(ConfigurationError, match=told):
        DulyFlask(app)
    assert "duly" not in app.extensions


def test_an_app_has_one_and_needs_one(tmp_path: Path) -> None:
    app = app_on(tmp_path, DULY_SETTINGS={"lease": QUICK.lease, "heartbeat": QUICK.heartbeat})
    scheduler = DulyFlask()
    with app.app_context(), pytest.raises(ConfigurationError, match="call init_app"):
        scheduler.sync  # noqa: B018 - asking is what is refused
    scheduler.init_app(app)
    with app.app_context():
        assert scheduler.app.settings.lease == QUICK.lease
    with pytest.raises(ConfigurationError, match="once for each app"):
        scheduler.init_app(app)
