"""Each alert is raised by its trouble, as Prometheus itself judges it: the series are those of a real /metrics."""

import inspect
import json
import re
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from duly import Every
from duly.store.methods import reading
from duly.store.statements import Query, query
from tests.acceptance.rules import rule
from tests.counting import at_least
from tests.telemetry.provoking import TROUBLES, Provoked, Stage, value_of

ROOT = Path(__file__).parents[2]
RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
ALERTS = {rule["alert"]: rule for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]}
CALM, TROUBLED = 10, 30
"""Minutes for which the first scrape lasts, and then the second."""


def series_of(provoked: Provoked) -> list[dict[str, str]]:
    """Both scrapes as Prometheus would have kept them, a minute apart."""
    before, after = values_in(provoked.before), values_in(provoked.after)
    found = []
    for name in sorted(before.keys() | after.keys()):
        calm = f"{before[name]!r}+0x{CALM - 1}" if name in before else f"_x{CALM}"
        troubled = f"{after[name]!r}+0x{TROUBLED}" if name in after else f"_x{TROUBLED + 1}"
        found.append({"series": name, "values": f"{calm} {troubled}"})
    return found


def values_in(text: str) -> dict[str, float]:
    values = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            if sample.name.startswith("duly_"):
                labels = {**sample.labels, "instance": "a", "job": "duly"}
                words = ",".join(f"{name}={json.dumps(value)}" for name, value in sorted(labels.items()))
                values[f"{sample.name}{{{words}}}"] = float(sample.value)
    return values


def firing(minute: int, alert: str | None, *, times: int) -> dict[str, Any]:
    """Expects that an alert (any, without a name) fires so many times at a minute."""
    which = 'alertstate="firing"' + (f',alertname="{alert}"' if alert else "")
    expected = [{"labels": "{}", "value": times}] if times else []
    return {
        "expr": f"count(count by (alertname) (last_over_time(ALERTS{{{which}}}[20m])))",
        "eval_time": f"{minute}m",
        "exp_samples": expected,
    }


def judge(promtool: str, folder: Path, provoked: Provoked, expected: list[dict[str, Any]]) -> None:
    test = {"interval": "1m", "input_series": series_of(provoked), "promql_expr_test": expected}
    path = folder / "alerts.test.yml"
    path.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}))
    code, words = ask(promtool, "test", "rules", str(path))
    assert code == 0, words


def ask(promtool: str, *words: str, about: str = "") -> tuple[int, str]:
    done = subprocess.run([promtool, *words], input=about, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@rule("S3.5", "S3.67", "S3.68", "S3.69", "S3.70", "S3.71", "S3.72", "S3.73", "S3.74", "K3")
@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.__name__)
async def test_a_trouble_raises_its_alert(
    promtool: str,
    tmp_path: Path,
    trouble: Callable[..., Awaitable[Provoked]],
    request: pytest.FixtureRequest,
) -> None:
    database = inspect.signature(trouble).parameters
    provoked = await (trouble(request.getfixturevalue("ready_postgres")) if database else trouble())
    calm = firing(CALM - 1, None, times=0)
    alerts, metric, labels = TROUBLES[trouble]
    judge(promtool, tmp_path, provoked, [calm, *(firing(CALM + 20, name, times=1) for name in alerts)])
    assert value_of(provoked.after, metric, **labels) > value_of(provoked.before, metric, **labels)


def test_nobody_to_scrape_raises_an_alert(promtool: str, tmp_path: Path) -> None:
    judge(promtool, tmp_path, Provoked("", ""), [firing(5, "DulyAbsent", times=1), firing(5, None, times=1)])


async def test_a_calm_day_raises_none(promtool: str, tmp_path: Path) -> None:
    stage = Stage()

    @stage.app.job("work", cron="* * * * *")
    async def work() -> None: ...

    async with stage.running():
        await stage.clock.advance(minutes=3)
        calm = await stage.provoked()
    assert 'duly_runs_total{outcome="completed"} 3.0' in calm.after
    judge(promtool, tmp_path, calm, [firing(minute, None, times=0) for minute in (5, 15, 25, 35)])


@rule("K3")
def test_every_alert_has_its_trouble() -> None:
    provoked = {name for signs in TROUBLES.values() for name in signs.alerts} | {"DulyAbsent"}
    assert provoked == ALERTS.keys()


def test_every_alert_says_what_to_do() -> None:
    for name, alert in at_least(ALERTS, 18, "alerts").items():
        assert alert["labels"]["severity"] in ("critical", "warning", "info"), name
        assert alert["annotations"]["summary"], name
        assert alert["annotations"]["description"].endswith("."), name


def test_promtool_finds_nothing_to_say(promtool: str) -> None:
    code, words = ask(promtool, "check", "rules", "--lint-fatal", str(RULES))
    assert code == 0, words


@rule("S3.75")
async def test_promtool_likes_the_metrics(promtool: str) -> None:
    stage = Stage()

    @stage.app.job('a "job"')
    async def work() -> None: ...

    async with stage.running():
        await stage.app.enqueue('a "job"')
        await stage.clock.advance(seconds=1)
        text = await stage.scrape()
    assert r'duly_job_attempts_total{job_type="a \"job\"",outcome="completed"} 1.0' in text
    assert ask(promtool, "check", "metrics", about=text) == (0, "")


def metrics_in(expression: str) -> set[str]:
    return set(re.findall(r"\bduly_[a-z_]+", expression))


async def test_every_metric_that_a_rule_or_a_panel_names_is_there() -> None:
    stage = Stage()
    async with stage.running():
        told = re.findall(r"^# TYPE (duly_\S+) ", await stage.scrape(), re.MULTILINE)
    there = {name + suffix for name in [*told, "duly_dead_rows"] for suffix in ("", "_bucket", "_sum", "_count")}
    named = {name for rule in ALERTS.values() for name in metrics_in(rule["expr"])}
    board = json.loads((ROOT / "deploy" / "grafana" / "duly.json").read_text())
    targets = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    assert len(targets) > 25
    named |= {name for expression in targets for name in metrics_in(expression)}
    assert named - there == set()


async def test_a_scrape_costs_the_store_the_same_however_much_it_holds(statements: list[str]) -> None:
    stage = Stage()
    async with stage.running():
        await stage.app.schedules.create_many(
            [{"key": f"s{n}", "timing": Every(hours=1), "job": "x"} for n in range(300)]
        )
        await stage.clock.settle()
        statements.clear()
        await stage.scrape()
        assert statements == ["count_load", "firing_stopped", "longest_waiting"]
        await (answer := stage.health.answers["/metrics"])("", "")
        await answer("", "")
        assert len(statements) == 3, "who asks again within five seconds gets what was counted"


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all statements that programs ask for, as they are made."""
    asked: list[str] = []

    def named(name: str, **values: Any) -> Query:
        asked.append(name)
        return query(name, **values)

    monkeypatch.setattr(reading, "query", named)
    return asked
