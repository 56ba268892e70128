"""The commands of pages that tell of a running service, typed as a reader would, on real servers and databases."""

import configparser
import grp
import json
import os
import re
import stat
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from tests.docs.reader import NOT_RUN, Reader, page_blocks, steps
from tests.serve.serving import ROOT

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300, func_only=True)]

SHOP = """
import duly

app = duly.Duly("sqlite:///shop.db")


@app.job("resize")
def resize(image: str) -> str:
    return image
"""


def fetch(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return str(answer.read().decode())


def status_of(url: str) -> int:
    try:
        fetch(url)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    return 200


def fires(api: str) -> bool | None:
    """Whether a server fires; None while it cannot say, as after two seconds in which its store did not answer."""
    try:
        return "firing is paused" not in fetch(f"{api}/readyz")
    except urllib.error.HTTPError as error:
        error.close()
        return None


def test_deployment_with_systemd(reader: Reader, fresh_postgres: str) -> None:
    """Its files are put where it says, below another root; then what the unit starts is started as it would be."""
    etc = reader.folder / "etc"
    (etc / "systemd" / "system").mkdir(parents=True)
    (reader.folder / "deploy").symlink_to(ROOT / "deploy")
    (reader.folder / "environment").write_text(f"DULY_DATABASE_URL={fresh_postgres}\n")
    reader.given |= {"etc": str(etc), "group": grp.getgrgid(os.getgid()).gr_name}
    typed = [step for step in steps(page_blocks("docs/deployment.md", "sh")[0]) if not_left_out(step)]
    assert [step.split()[0] for step in typed] == ["install", "install"]
    for step in typed:
        reader.type(step)
    assert stat.S_IMODE((etc / "duly" / "environment").stat().st_mode) == 0o640
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read(etc / "systemd" / "system" / "duly.service")
    named = Path(unit["Service"]["EnvironmentFile"].removeprefix("-"))
    read = (etc / named.relative_to("/etc")).read_text().strip().partition("=")
    reader.variables[read[0]] = read[2]
    program, arguments = unit["Service"]["ExecStart"].split(" ", 1)
    assert program == "/opt/duly/bin/duly"
    served = reader.start(f"duly {arguments}")
    assert "store postgresql://" in served.says(r"is ready: (.*)")


def not_left_out(step: str, page: str = "docs/deployment.md") -> bool:
    return (page, step) not in NOT_RUN


def test_deployment_with_encryption(reader: Reader) -> None:
    _, key, _ = page_blocks("docs/deployment.md", "sh")
    (settings,) = page_blocks("docs/deployment.md", "toml")
    reader.type(key)
    reader.given["sealing"] = (reader.folder / "key.txt").read_text().strip()
    (reader.folder / "duly.toml").write_text(reader.instead(settings))
    reader.serve()
    reader.type("""duly schedule create k --every 1h --job x --payload '{"user": "nobody-may-read-this"}'""")
    assert "nobody-may-read-this" in reader.type("duly schedule get k -o json")
    assert "2026a" in reader.type("duly doctor")
    files = [path for path in reader.folder.glob("duly.db*") if path.is_file()]
    assert files
    assert not [path for path in files if b"nobody-may-read-this" in path.read_bytes()]


def test_deployment_after_a_restore(reader: Reader) -> None:
    """Each of the three answers by itself, after the word that makes it necessary."""
    served = reader.serve()
    api = reader.given["api"]
    reader.type("duly schedule create k --every 1h --job x")
    restored, *answers = page_blocks("docs/deployment.md", "sh")[2].splitlines()
    assert len(answers) == 3
    for answer in answers:
        reader.type(restored)
        served.until(lambda: fires(api) is False, "the server to stop firing")
        if answer == answers[0]:
            assert "resume --all --backlog" in reader.type("duly doctor")
            served.until(lambda: "\nduly_firing_paused 1.0" in fetch(f"{api}/metrics"), "the metric")
        reader.type(answer)
        served.until(lambda: fires(api), "the server to fire again")


def test_serving(reader: Reader, fresh_postgres: str) -> None:
    (block,) = page_blocks("docs/serving.md", "sh")
    plain, with_app, worker, remote, demo = steps(block)
    (reader.folder / "shop.py").write_text(SHOP)
    reader.given["postgres"] = fresh_postgres
    assert "store sqlite:///duly.db, roles api, scheduler, worker" in reader.start(plain).says(r"is ready: (.*)")
    served = reader.start(with_app)
    reader.given["api"] = served.url()
    assert "store sqlite:///shop.db" in served.said()
    assert "roles worker" in reader.start(worker).says(r"is ready: (.*)")
    assert reader.start(remote).says(r"is ready: (.*)").endswith("on resize")
    demonstrated = reader.start(demo).url()
    schedules = json.loads(fetch(f"{demonstrated}/api/v1/schedules"))["items"]
    assert schedules
    assert all(schedule["key"].startswith("demo-") for schedule in schedules)


def test_serving_with_its_settings(reader: Reader, fresh_postgres: str) -> None:
    (settings,) = page_blocks("docs/serving.md", "toml")
    reader.given["postgres"] = fresh_postgres
    (reader.folder / "duly.toml").write_text(reader.instead(settings))
    reader.serve()
    shown = json.loads(reader.type("duly schedule get nightly-report -o json -q"))
    assert (shown["timezone"], shown["jobPayload"]) == ("America/Sao_Paulo", {"rows": 100})


def test_webhooks(reader: Reader) -> None:
    (block,) = page_blocks("docs/webhooks.md", "sh")
    reader.serve()
    reader.type("duly schedule create nightly-report --cron '0 2 * * *' --job report")
    reader.type(block)
    (hook,) = reader.listed("duly webhook list")
    schedule = json.loads(reader.type("duly schedule get nightly-report -o json -q"))
    assert (hook["kind"], hook["scheduleId"]) == ("heartbeat", schedule["id"])


def test_keys(reader: Reader) -> None:
    (block,) = page_blocks("docs/auth.md", "console")
    first, second, *others = steps(block)
    served = reader.serve()
    assert reader.type(first).startswith("duly_live_")
    reader.given["id"] = reader.type(second)[len("duly_live_") :][:8]
    listing, rotate, revoke = others
    assert reader.given["id"] in reader.type(listing)
    assert "duly_live_" in reader.type(rotate)
    reader.type(revoke)
    served.until(lambda: status_of(f"{reader.given['api']}/api/v1/schedules") == 401, "the server to ask who calls")
    states = {key["id"]: key["revokedAt"] is not None for key in reader.listed("duly key list")}
    assert states.pop(reader.given["id"])
    assert list(states.values()) == [False, False]


def test_importing_a_crontab(reader: Reader) -> None:
    (block,) = page_blocks("docs/migrating.md", "console")
    crontab = next(line for line in block.splitlines() if not line.startswith("$ "))
    reader.has_program("crontab", f"echo '{crontab}'")
    reader.serve()
    shown, look, bring, resume = [step for step in steps(block) if step != crontab]
    assert reader.type(shown).strip() == crontab
    reader.type(look)
    assert reader.listed("duly schedule list") == []
    reader.type(bring)
    (schedule,) = reader.listed("duly schedule list")
    assert not schedule["enabled"]
    reader.type(resume)
    assert reader.listed("duly schedule list")[0]["enabled"]


def test_importing_a_list_of_jobs(reader: Reader) -> None:
    (jobs,) = page_blocks("docs/migrating.md", "json")
    (reader.folder / "jobs.json").write_text(jobs)
    reader.type("duly import apscheduler jobs.json")
    assert sorted(one["key"] for one in reader.listed("duly schedule list")) == ["nightly", "once", "poll"]


FAILS = """
import duly

app = duly.Duly("sqlite:///duly.db")


@app.job("report", retry=duly.Retry(max_attempts=3, delay=3600))
def report():
    raise ConnectionError("no route to host")
"""


def test_following_events(reader: Reader) -> None:
    """The two lines on the page are what a run that fails says, but for its times and its id."""
    (block,) = page_blocks("docs/cli.md", "console")
    command, *lines = block.splitlines()
    (reader.folder / "flaky.py").write_text(FAILS)
    served = reader.start("duly serve --app flaky:app")
    reader.given["api"] = served.url()
    reader.variables["DULY_API_URL"] = served.url()
    reader.type("duly schedule create nightly --cron '0 2 1 1 *' --job report")
    followed = reader.start(command.removeprefix("$ "))

    def shown() -> bool:
        since = followed.said().rpartition("stream.reset")[2]  # what was before that may have been told in part
        if "run.started" not in since:
            reader.type("duly schedule trigger nightly -q -o name --force")
        told = {events_alike(line) for line in followed.said().splitlines()}
        return told >= {events_alike(line) for line in lines}

    assert len(lines) == 2
    followed.until(shown, "the lines on the page")


def events_alike(line: str) -> str:
    at_and_id = r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|[0-9a-f]{8}-(…|[0-9a-f]{4}-\S+)"
    return re.sub(at_and_id, "*", line).rstrip()
