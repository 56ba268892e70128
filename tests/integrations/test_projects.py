"""The examples for Django and Flask as a reader runs them: their own commands, in processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.rules import rule
from tests.places import a_place
from tests.serve.serving import PATIENCE, ROOT, environment, own_port

pytestmark = [pytest.mark.processes, pytest.mark.timeout(600, func_only=True)]
MANAGE = (sys.executable, str(ROOT / "examples" / "django_shop" / "manage.py"))
FLASK = (sys.executable, "-m", "flask", "--app", "examples.flask_app")
FORKING = """
from werkzeug.serving import run_simple
from examples.flask_app import create_app, scheduler
app = create_app()
with app.app_context():
    scheduler.sync.schedules.list()    # opened before the forks, as with --preload
run_simple("127.0.0.1", {port}, app, processes=3)
"""


class Programs:
    """Processes in one folder, with one environment."""

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        self._environment = environment(PYTHONPATH=f"{ROOT / 'src'}:{ROOT}", **variables)
        self._started: list[subprocess.Popen[bytes]] = []

    def run(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.folder, env=self._environment, capture_output=True, text=True, timeout=200, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def start(self, *command: str) -> None:
        with (self.folder / f"{len(self._started)}.log").open("wb") as log:
            self._started.append(
                subprocess.Popen(
                    command, cwd=self.folder, env=self._environment, stdout=log, stderr=log, start_new_session=True
                )
            )

    def stop(self) -> None:
        """Ask all of them to end, and see that those which can end well do."""
        for process in self._started:
            process.terminate()  # not SIGINT: whoever runs the tests in the background has it ignored
        for process in self._started:
            assert process.wait(120) in (0, -signal.SIGTERM), self.said()

    def close(self) -> None:
        for process in self._started:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def said(self) -> str:
        return "\n".join(f"{log.name}: {log.read_text()[-1500:]}" for log in sorted(self.folder.glob("*.log")))

    def until(self, condition: Callable[[], Any], what: str, within: float = 120) -> Any:
        give_up_at = time.monotonic() + within
        while not (found := condition()):
            assert all(process.poll() is None for process in self._started), self.said()
            assert time.monotonic() < give_up_at, f"waited {within} s for {what}\n{self.said()}"
            time.sleep(0.2)
        return found


def ask(port: int, path: str, body: object = None, method: str | None = None) -> tuple[int, Any]:
    """Status and JSON of a page; 0 while nobody answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data, {"content-type": "application/json"} if data else {}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
    except OSError:
        return 0, None


@pytest.fixture
def programs(tmp_path: Path) -> Iterator[Callable[..., Programs]]:
    made: list[Programs] = []

    def make(**variables: str) -> Programs:
        made.append(Programs(tmp_path, **variables))
        return made[-1]

    with a_place():
        yield make
    for one in made:
        one.close()


@pytest.fixture
def ports() -> Iterator[tuple[int, int]]:
    """One for the web server and one for the API."""
    with own_port() as web, own_port() as api:
        yield web, api


@rule("Django.project")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_the_shop_in_django(
    kind: str,
    programs: Callable[..., Programs],
    ports: tuple[int, int],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    variables = {"SHOP_FOLDER": str(tmp_path)}
    if kind == "postgres":
        variables["SHOP_DATABASE_URL"] = request.getfixturevalue("fresh_postgres")
    shop = programs(**variables)
    said = shop.run(*MANAGE, "migrate")
    assert ("Set up duly's tables" in said) == (kind == "postgres")
    web, api = ports
    shop.start(*MANAGE, "runserver", "--noreload", str(web))
    shop.start(*MANAGE, "duly", "serve", "--port", str(api))
    shop.start(*MANAGE, "duly", "serve", "--roles", "scheduler,worker")
    shop.until(lambda: ask(web, "/orders/0/")[0] == 404 and ask(api, "/readyz")[0] == 200, "both to be up")
    assert ask(web, "/orders/?fail=1", method="POST")[0] == 402
    status, order = ask(web, "/orders/", method="POST")
    assert status == 201
    shop.until(lambda: ask(web, f"/orders/{order['order']}/")[1]["receipts"], "the receipt")
    assert ask(web, f"/orders/{order['order']}/")[1] == {**order, "receipts": 1}
    receipts = ask(api, "/api/v1/runs?jobType=send-receipt")[1]["items"]
    assert len(receipts) == 1, "none for the order that was rolled back"
    books = ask(api, "/api/v1/runs", {"jobType": "close-the-books"})[1]["id"]
    shop.until(lambda: ask(api, f"/api/v1/runs/{books}")[1]["status"] in ("completed", "failed"), "the books")
    closed = ask(api, f"/api/v1/runs/{books}")[1]
    assert (closed["status"], closed["result"]) == ("completed", 1), closed

    def counted() -> Any:
        runs = ask(api, "/api/v1/schedules/count-orders/executions")[1]["items"]
        return [run for run in runs if run["status"] == "completed"]

    windows = [run["windowKey"] for run in shop.until(counted, "the schedule to fire")]
    assert len(windows) == len(set(windows))
    assert "count-orders" in shop.run(*MANAGE, "duly", "schedule", "list")
    shop.stop()


@rule("Flask")
def test_flask_with_forking_web_workers_and_two_that_fire(
    programs: Callable[..., Programs], ports: tuple[int, int], tmp_path: Path
) -> None:
    shop = programs(DULY_DATABASE_URL=f"sqlite:///{tmp_path / 'shop.db'}")
    web, api = ports
    shop.run(*FLASK, "duly", "db", "migrate")
    shop.start(sys.executable, "-c", FORKING.format(port=web))
    shop.start(*FLASK, "duly", "serve", "--port", str(api))
    shop.start(*FLASK, "duly", "serve", "--roles", "scheduler,worker")
    shop.until(lambda: ask(web, "/runs/none")[0] == 404 and ask(api, "/readyz")[0] == 200, "both to be up")
    runs = [ask(web, f"/reminders/{user}", {})[1]["run"] for user in range(6)]
    for user, run in enumerate(runs):
        shop.until(partial(_completed, web, run), "a reminder")
        assert ask(web, f"/runs/{run}")[1]["result"] == f"hello, user {user}"

    def ticks() -> Any:
        done = ask(api, "/api/v1/schedules/tick/executions?limit=200")[1]["items"]
        return [run for run in done if run["status"] == "completed"]

    windows = [run["windowKey"] for run in shop.until(lambda: len(ticks()) >= 3 and ticks(), "three windows")]
    assert len(windows) == len(set(windows))
    shop.stop()


def _completed(web: int, run: str) -> bool:
    return bool(ask(web, f"/runs/{run}")[1]["status"] == "completed")
