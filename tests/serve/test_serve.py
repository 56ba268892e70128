"""``duly serve``: its roles, its health, its end."""

import json
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.rules import rule
from tests.serve.serving import PATIENCE, Served, own_port

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180, func_only=True)]
Serve = Callable[..., Served]

QUIET = """
import asyncio, duly, time
from pathlib import Path

app = duly.Duly("sqlite:///shop.db")

@app.job("nap")
async def nap(seconds: float) -> str:
    Path("napping").touch()
    await asyncio.sleep(seconds)
    return "rested"

@app.job("doze")
async def doze() -> str:
    Path("dozing").touch()
    while not Path("woken").exists():
        await asyncio.sleep(0.05)
    return "rested"

@app.job("deaf")
async def deaf() -> None:
    Path("deaf").touch()
    while True:
        try:
            await asyncio.sleep(0.05)
        except BaseException:
            pass

@app.job("block")
async def block() -> None:
    Path("blocked").touch()
    while True:
        time.sleep(0.05)
"""

SHOP = f"""{QUIET}
@app.every("1s", name="tick")
async def tick() -> None: ...
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "quiet.py").write_text(QUIET)
    return tmp_path


def test_it_says_when_it_is_ready_and_answers_at_the_root(serve: Serve) -> None:
    served = serve().ready()
    assert f"{served.url}/docs" in served.said()
    assert "store sqlite:///duly.db, roles api, scheduler, worker" in served.said()
    assert served.ask("/livez").status == 200
    assert served.ask("/healthz").json == served.ask("/readyz").json == {"status": "ready"}
    verbose = served.ask("/readyz?verbose").json
    assert {name: check["ok"] for name, check in verbose["checks"].items()} == {
        "store": True,
        "schema": True,
        "session": True,
        "firing": True,
    }
    assert verbose["checks"]["schema"]["seen"].isdigit()
    assert served.ask("/version").json["name"] == "duly"
    assert served.ask("/api/v1/schedules").json == {"items": [], "nextCursor": None}
    assert served.ask("/openapi.json").status == 200
    assert served.end() == 0


def test_an_app_s_jobs_run_and_a_clean_end_is_0(serve: Serve, shop: Path) -> None:
    served = serve("--app", "shop:app").ready()
    run = served.ask("/api/v1/runs", {"jobType": "nap", "payload": {"seconds": 0}})
    assert run.status == 202
    served.until(lambda: served.ask(f"/api/v1/runs/{run.json['id']}").json["status"] == "completed", "the run")
    served.until(lambda: served.runs(status="completed", jobType="tick"), "a declared schedule to fire")
    assert served.end(signal.SIGINT) == 0
    assert (shop / "shop.db").exists(), "the app's own URL holds"
    assert not (shop / "duly.db").exists()


def test_a_flag_moves_an_app_to_another_store(serve: Serve, shop: Path, database_url: str) -> None:
    served = serve("--app", "shop:app", "--database-url", database_url).ready()
    served.until(lambda: served.runs(status="completed", jobType="tick"), "a declared schedule to fire")
    assert served.end() == 0
    assert not (shop / "shop.db").exists()


def test_configuration_fills_what_the_app_left_open(serve: Serve, tmp_path: Path) -> None:
    code = "import duly\napp = duly.Duly()\n@app.job('hello')\nasync def hello(name: str = '?') -> str: return name\n"
    (tmp_path / "plain.py").write_text(code)
    (tmp_path / "duly.toml").write_text(
        "shutdown_timeout = '7s'\n[database]\nurl = 'sqlite:///from-toml.db'\n"
        "[[schedules]]\nkey = 'hi'\nevery = '1s'\njob = 'hello'\npayload = {name = 'you'}\n"
    )
    served = serve("--app", "plain:app").ready()
    served.until(lambda: served.runs(status="completed", jobType="hello"), "the schedule of the file to fire")
    assert served.ask("/api/v1/schedules/hi").json["jobPayload"] == {"name": "you"}
    assert (tmp_path / "from-toml.db").exists()
    assert served.end() == 0


@rule("S3.7")
def test_without_the_scheduler_a_due_schedule_stays_due(serve: Serve) -> None:
    served = serve("--roles", "api,worker").ready()
    made = served.ask("/api/v1/schedules", {"name": "k", "key": "k", "everyMs": 1000, "jobType": "x"}).json
    due_at = made["nextFireAt"]
    served.let_pass(3)
    assert served.runs() == []
    assert served.ask("/api/v1/schedules/k").json["nextFireAt"] == due_at, "still due"
    other = serve("--roles", "scheduler").ready()
    served.until(lambda: served.runs(), "the other instance to fire")
    assert other.end() == served.end() == 0


@rule("S3.7")
def test_without_the_worker_nothing_is_claimed(serve: Serve, shop: Path) -> None:
    served = serve("--app", "shop:app", "--roles", "api,scheduler").ready()
    run = served.ask("/api/v1/runs", {"jobType": "nap", "payload": {"seconds": 0}}).json
    served.let_pass(3)
    assert served.ask(f"/api/v1/runs/{run['id']}").json["status"] == "pending"
    worker = serve("--app", "shop:app", command="worker").ready()
    served.until(lambda: served.ask(f"/api/v1/runs/{run['id']}").json["status"] == "completed", "the worker's work")
    assert worker.end() == served.end() == 0


@pytest.mark.parametrize("command", ["worker", "scheduler"])
def test_without_the_api_no_port_is_open(serve: Serve, command: str) -> None:
    with own_port() as port:
        served = serve(command=command, DULY_API_PORT=str(port)).ready()
        assert "no port is open" in served.said()
        assert _listening(served) == set()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port), PATIENCE)
    assert served.end() == 0


@rule("S0.12")
def test_the_api_alone_neither_fires_nor_works(serve: Serve, shop: Path) -> None:
    served = serve("--app", "shop:app", command="api").ready()
    assert "roles api" in served.said()
    served.ask("/api/v1/runs", {"jobType": "nap", "payload": {"seconds": 0}})
    served.let_pass(2.5)
    assert [run["status"] for run in served.runs()] == ["pending"], "no tick fired, no nap was taken"
    assert served.end() == 0


def test_work_finishes_within_the_grace_and_clients_that_stay_do_not_hold_it(serve: Serve, shop: Path) -> None:
    served = serve("--app", "shop:app", DULY_SHUTDOWN_TIMEOUT="60").ready()
    clients = _clients_that_stay(served)
    run = served.ask("/api/v1/runs", {"jobType": "doze", "payload": {}}).json
    served.until((shop / "dozing").exists, "the handler to begin")
    served.send(signal.SIGTERM)
    served.until(lambda: served.status_of("/livez") == 0, "the signal to be heard")
    (shop / "woken").touch()
    assert served.wait() == 0, "the clients are still there"
    for client in clients:
        client.close()
    again = serve("--app", "shop:app", "--roles", "api").ready()
    assert again.ask(f"/api/v1/runs/{run['id']}").json["status"] == "completed"


def test_without_work_clients_that_stay_hold_it_only_for_a_moment(serve: Serve) -> None:
    served = serve().ready()
    clients = _clients_that_stay(served)
    assert served.end() == 0, "the clients are still there, and would be forever"
    for client in clients:
        client.close()


def test_work_longer_than_the_grace_is_handed_back_and_the_exit_code_says_so(serve: Serve, shop: Path) -> None:
    served = serve("--app", "quiet:app", DULY_SHUTDOWN_TIMEOUT="1").ready()
    run = served.ask("/api/v1/runs", {"jobType": "nap", "payload": {"seconds": 600}}).json
    served.until((shop / "napping").exists, "the handler to begin")  # "running" is told when it is claimed
    assert served.end() == 1
    assert "1 attempts took longer than shutdown_timeout and were handed back" in served.said()
    again = serve("--app", "shop:app", "--roles", "api").ready()
    found = again.ask(f"/api/v1/runs/{run['id']}").json
    assert (found["status"], found["attemptNumber"]) == ("pending", 1), "no attempt is spent"


def test_the_second_signal_ends_it_at_once(serve: Serve, shop: Path) -> None:
    served = serve("--app", "shop:app", DULY_SHUTDOWN_TIMEOUT="600").ready()
    served.ask("/api/v1/runs", {"jobType": "nap", "payload": {"seconds": 600}})
    served.until((shop / "napping").exists, "the handler to begin")
    served.send(signal.SIGTERM)
    served.until(lambda: served.status_of("/livez") == 0, "the first signal to be heard")
    assert served.end(signal.SIGINT) == 128 + signal.SIGINT, "neither the nap nor the grace is over yet"


def test_a_handler_that_swallows_its_cancellation_is_left_behind(serve: Serve, shop: Path) -> None:
    served = serve("--app", "quiet:app", DULY_SHUTDOWN_TIMEOUT="0.2").ready()
    run = served.ask("/api/v1/runs", {"jobType": "deaf"}).json
    served.until((shop / "deaf").exists, "the handler to begin")
    assert served.end() == 1
    assert "leaves behind what does not" in served.said()
    assert "> deaf >" in served.said(), "it says where"
    again = serve("--app", "quiet:app", "--roles", "api").ready()
    assert again.ask(f"/api/v1/runs/{run['id']}").json["status"] == "pending", "it was given back before"


def test_signals_end_it_although_its_event_loop_is_blocked(serve: Serve, shop: Path) -> None:
    api = serve("--app", "quiet:app", "--roles", "api").ready()
    served = serve("--app", "quiet:app", command="worker").ready()
    api.ask("/api/v1/runs", {"jobType": "block"})
    served.until((shop / "blocked").exists, "the work to begin")
    served.send(signal.SIGINT)
    assert served.end(signal.SIGTERM) == 128 + signal.SIGTERM
    assert api.end() == 0


def test_while_the_store_does_not_answer_it_is_alive_and_not_ready_and_a_signal_ends_it(serve: Serve) -> None:
    with socket.socket() as silent, own_port() as port:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        url = f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/d?connect_timeout=15"
        served = serve("--database-url", url, port=port)
        served.until(lambda: served.status_of("/livez") == 200, "the port to open")
        not_ready = served.ask("/readyz")
        assert (not_ready.status, not_ready.json["code"]) == (503, "NOT_READY")
        assert not_ready.json["detail"] == "process: starting"
        assert not_ready.headers["content-type"] == "application/problem+json"
        early = served.ask("/api/v1/schedules")
        assert (early.status, early.json["code"], early.headers["retry-after"]) == (503, "NOT_READY", "1")
        assert early.json["instance"] == f"urn:duly:request:{early.json['requestId']}"
        assert early.headers["x-request-id"] == early.json["requestId"]
        assert served.end() == 0


def test_a_line_of_the_log_is_json_where_no_person_looks(serve: Serve) -> None:
    served = serve("--demo", "--log-format", "auto")
    served.until(lambda: "is ready" in served.said() and "report for" in served.said(), "some lines")
    assert served.end() == 0
    lines = [json.loads(line) for line in served.said().splitlines()]
    (ready,) = [line for line in lines if "is ready" in line["event"]]
    assert (ready["level"], ready["logger"], ready["roles"]) == ("info", "duly.serve", ["api", "scheduler", "worker"])
    assert ready["address"].startswith("http://127.0.0.1:")
    assert all(line["ts"].endswith("Z") for line in lines)


def test_an_address_that_others_reach_needs_a_word_of_consent(serve: Serve) -> None:
    refused = serve("--host", "0.0.0.0")
    assert refused.wait() == 78
    (line,) = refused.said().splitlines()
    assert "'0.0.0.0', which other machines can reach" in line
    assert "--insecure" in line
    served = serve("--host", "0.0.0.0", "--insecure").ready()
    assert "without authentication" in served.said()
    assert served.end() == 0


def _clients_that_stay(served: Served) -> list[socket.socket]:
    """One that keeps its connection, one that has sent half a request, one that reads nothing of a long answer."""
    host, port = served.url.removeprefix("http://").split(":")
    idle, half, deaf = (socket.create_connection((host, int(port)), PATIENCE) for _ in range(3))
    idle.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b"200 OK" in idle.recv(4096)
    half.sendall(
        b"POST /api/v1/schedules HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"
    )
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    deaf.sendall(b"GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n")
    served.until(lambda: deaf.recv(10, socket.MSG_PEEK), "the long answer to begin")
    return [idle, half, deaf]


def _listening(served: Served) -> set[str]:
    """The local addresses on which the process listens, as Linux tells them."""
    folder = Path(f"/proc/{served.process.pid}")
    sockets = {link.readlink().name for link in (folder / "fd").iterdir() if link.is_symlink()}
    found = set()
    for table in ("tcp", "tcp6"):
        for row in (folder / "net" / table).read_text().splitlines()[1:]:
            words = row.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in sockets:
                found.add(words[1])
    return found
