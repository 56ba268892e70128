"""The selection of ``scripts/test --fast``: tests that need only this process, with fewer examples of properties.

What is left out follows from a test's fixtures and markers, never from its name, and is counted by reason. The rule is
enforced while the tests run: one that asks for a server or starts a process although the rule kept it fails, and says
what it lacks.
"""

import multiprocessing.process
import os
import subprocess
from collections import Counter
from typing import Any

import pytest
from hypothesis import settings

from tests.properties import FAST, FULL

SERVER = "need a server"
BROWSER = "need a browser"
PROCESS = "start processes"
SLOW = "are marked slow"

SERVER_FIXTURES = frozenset(
    "durable_redis kafka nats pgbouncer_url pgbouncer_wheel_url postgres_url postgres_wheel_url promtool rabbitmq"
    " redis_url sqs".split()
)
PROCESS_FIXTURES = frozenset(("own_place", "quick", "reader", "serve", "spawn", "warm"))

_LEFT_OUT = pytest.StashKey["Counter[str]"]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fast", action="store_true", help="leave out tests that need a server, a browser or processes")


def is_fast(config: pytest.Config) -> bool:
    return bool(config.getoption("--fast", default=False))


def reason_to_leave_out(item: pytest.Item) -> str | None:
    """Why a fast run does without this test, or None."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if "browser" in fixtures:
        return BROWSER
    if item.get_closest_marker("server") or fixtures & SERVER_FIXTURES:
        return SERVER
    if item.get_closest_marker("processes") or fixtures & PROCESS_FIXTURES:
        return PROCESS
    if item.get_closest_marker("slow"):
        return SLOW
    return None


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_LEFT_OUT] = Counter()
    settings.load_profile(FAST if is_fast(config) else FULL)


@pytest.hookimpl(trylast=True)  # after -k and -m: what they leave out is not counted here
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not is_fast(config):
        return
    kept, left_out = [], []
    for item in items:
        reason = reason_to_leave_out(item)
        if reason is None:
            kept.append(item)
        else:
            left_out.append(item)
            config.stash[_LEFT_OUT][reason] += 1
    items[:] = kept
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish(session: pytest.Session) -> None:
    if is_fast(session.config) and not session.config.option.collectonly:
        _refuse_processes()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the counts of a worker to the process that prints them; every worker collects the same tests."""
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        counts: Counter[str] = session.config.stash[_LEFT_OUT]
        output["left_out"] = dict(counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    if left_out := getattr(node, "workeroutput", {}).get("left_out"):
        node.config.stash[_LEFT_OUT] = Counter(left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not is_fast(config) or config.option.collectonly:
        return
    counts = config.stash[_LEFT_OUT]
    stats = terminalreporter.stats
    ran = sum(len(stats.get(outcome, ())) for outcome in ("passed", "failed", "xfailed", "xpassed"))
    reasons = ", ".join(f"{count} {reason}" for reason, count in counts.most_common())
    terminalreporter.write_line(f"fast: {ran} tests ran, {counts.total()} were left out ({reasons or 'none'})")


def _refuse_processes() -> None:
    """Let every start of a process fail the test that tries it: the rule should have left that test out."""

    def refuse(*_: object, **__: object) -> Any:
        pytest.fail(
            "this test starts a process or a server in a fast run; mark it @pytest.mark.processes or"
            " @pytest.mark.server, or name its fixture in tests/fast.py"
        )

    subprocess.Popen.__init__ = refuse  # type: ignore[method-assign]
    multiprocessing.process.BaseProcess.start = refuse  # type: ignore[method-assign]
    os.fork = refuse
