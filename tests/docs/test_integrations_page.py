"""docs/integrations.md: its programs run as they stand, and what is cut from an example is cut from it truly."""

import asyncio
import re
import tomllib
from pathlib import Path
from textwrap import dedent
from typing import Any

import httpx2
import pytest

from duly import Jobs
from duly.core.errors import DulyError
from duly.integrations.flask import DulyFlask
from duly.targets.address import read_address
from tests.counting import at_least

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text("utf-8")
BLOCKS = re.findall(r"(?:<!-- (\S+) -->\n)?```(\w+)\n(.*?)```", PAGE, re.DOTALL)
PROGRAMS = at_least([code for cut, language, code in BLOCKS if language == "python" and not cut], 4, "programs")


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_runs(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "page"}
    exec(compile(PROGRAMS[number], f"integrations.md-{number}", "exec"), names)
    if "web" in names:
        asyncio.run(_ask_the_web(names["scheduler"], names["web"]))
    if "create_app" in names:
        app = names["create_app"]()
        assert "run" in app.test_client().post("/reminders/7").json
    if "jobs" in names:
        assert isinstance(names["jobs"], Jobs)


async def _ask_the_web(scheduler: Any, web: Any) -> None:
    """The app's own route, and what is mounted in it."""
    client = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=web), base_url="http://127.0.0.1")
    async with scheduler, client:
        run = (await client.post("/reminders/7")).json()["run"]
        assert (await client.get(f"/duly/api/v1/runs/{run}")).json()["jobType"] == "send-reminder"
        planned = await client.put("/reminders/7", params={"at": "09:30", "zone": "Europe/Berlin"})
        assert (planned.status_code, planned.json()) == (200, {"schedule": "reminder-7"})
        refused = await client.put("/reminders/7", params={"at": "09:30", "zone": "Berlin"})
        assert (refused.status_code, refused.json()["code"]) == (422, "SCHEDULE_TIMEZONE_INVALID")
        page = await client.get("/schedules/")
        assert (page.status_code, "text/html" in page.headers["content-type"]) == (200, True)


def test_there_is_one_for_each_framework() -> None:
    for word in ("FastAPI", "INSTALLED_APPS", "Jobs()", DulyFlask.__name__):
        assert any(word in program for program in PROGRAMS), word


def test_what_is_cut_from_an_example_stands_in_it() -> None:
    cuts = [(cut, code) for cut, _, code in BLOCKS if cut]
    at_least(cuts, 1, "pieces of examples")
    for cut, code in cuts:
        lines = (ROOT / "examples" / "django_shop" / cut).read_text("utf-8").splitlines()
        wanted = code.splitlines()
        start = [line.strip() for line in lines].index(wanted[0])
        assert dedent("\n".join(lines[start : start + len(wanted)])).splitlines() == wanted


def test_the_keys_of_the_settings_are_all_there() -> None:
    from duly.integrations.django import options

    named = re.findall(r"^\| `([A-Z]+)` \|", PAGE, re.MULTILINE)
    assert sorted(named) == sorted(options.KEYS)
    source = (ROOT / "src" / "duly" / "integrations" / "flask.py").read_text("utf-8")
    assert set(re.findall(r"^\| `(DULY_\w+)` \|", PAGE, re.MULTILINE)) == set(re.findall(r'"(DULY_[A-Z_]+)"', source))


def test_the_target_of_celery_can_be_read() -> None:
    (toml,) = (tomllib.loads(code) for _, language, code in BLOCKS if language == "toml")
    try:
        read_address("celery", toml["targets"]["celery"]["url"], frozenset({"task", "queue"}))
    except DulyError as error:
        pytest.fail(str(error))
