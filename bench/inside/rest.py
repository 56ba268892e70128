"""Asks a served process over HTTP: how long one answer takes, how many a second, beside a bare route."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import quantiles
from urllib.parse import urlsplit

ASKED = 400
SECONDS = 4.0
CALLERS = 16
BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def answer(request): return JSONResponse({"id": request.path_params["id"], "ok": True})
uvicorn.run(Starlette(routes=[Route("/api/v1/schedules/{id}", answer)]), port=int(sys.argv[1]), log_level="error",
            access_log=False, loop="uvloop", http="httptools")
"""


async def main(url: str, schedules: int) -> dict[str, float]:
    answers: dict[str, float] = {}
    with served([sys.executable, "-m", "duly", "api", "--database-url", url, "--port"], "/readyz") as (address, _):
        page = _ask(address, "GET", "/api/v1/schedules?limit=200")["items"]
        run_page = _ask(address, "GET", "/api/v1/runs?limit=200")["items"]
        keys, runs = [item["key"] for item in page], [item["id"] for item in run_page]
        paths: dict[str, Callable[[int], str]] = {
            "get a schedule": lambda i: f"/api/v1/schedules/stock-{i * 7919 % schedules}",
            "list schedules": lambda i: "/api/v1/schedules?limit=50",
            "list of an owner": lambda i: f"/api/v1/schedules?limit=50&owner=owner-{i}",
            "search by name": lambda i: f"/api/v1/schedules?limit=50&q=stock-{i}",
            "get a run": lambda i: f"/api/v1/runs/{runs[i % len(runs)]}",
            "list runs": lambda i: "/api/v1/runs?limit=50",
            "runs of a schedule": lambda i: f"/api/v1/schedules/{keys[i % len(keys)]}/executions?limit=50",
        }
        for name, path in paths.items():
            answers |= {f"{name} {figure}": value for figure, value in _latency(address, path).items()}
        answers["get_per_s"] = _rate(address, lambda i: ("GET", paths["get a schedule"](i), None))
        tag = f"r{time.time_ns():x}"
        body = {"cronExpression": "0 2 1 1 *", "jobType": "stock"}
        one = lambda i: ("POST", "/api/v1/schedules", {**body, "name": "n", "key": f"{tag}-{i}"})
        answers["create_one_per_s"] = _rate(address, one, callers=1)
        many = lambda i: ("POST", "/api/v1/schedules", {**body, "name": "n", "key": f"{tag}x{i}"})
        answers["create_16_per_s"] = _rate(address, many)
        answers["apply_per_s"] = _apply(address, tag, body)
    with served([sys.executable, "-c", BARE], "/api/v1/schedules/x") as (address, _):
        answers["bare_per_s"] = _rate(address, lambda i: ("GET", f"/api/v1/schedules/stock-{i}", None))
    return answers


def _apply(address: str, tag: str, body: dict[str, str]) -> float:
    """Schedules per second by files of 500."""
    began = time.perf_counter()
    for part in range(10):
        items = [{**body, "name": "n", "key": f"{tag}y{part}-{i}"} for i in range(500)]
        _ask(address, "POST", "/api/v1/schedules:apply", {"set": f"{tag}{part}", "schedules": items})
    return 5000 / (time.perf_counter() - began)


def _latency(address: str, path: Callable[[int], str]) -> dict[str, float]:
    connection = _connect(address)
    took: list[float] = []
    for i in range(ASKED):
        began = time.perf_counter()
        _say(connection, "GET", path(i), None)
        took.append(1000 * (time.perf_counter() - began))
    connection.close()
    cuts = quantiles(took[20:], n=100)
    return {"p50_ms": cuts[49], "p99_ms": cuts[98]}


def _rate(address: str, request: Callable[[int], tuple[str, str, object]], callers: int = CALLERS) -> float:
    counts = [0] * callers
    end = time.perf_counter() + SECONDS

    def call(number: int) -> None:
        connection = _connect(address)
        while time.perf_counter() < end:
            _say(connection, *request(number + callers * counts[number]))
            counts[number] += 1
        connection.close()

    threads = [threading.Thread(target=call, args=(number,)) for number in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / SECONDS


def _connect(address: str) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=60)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _say(connection: http.client.HTTPConnection, method: str, path: str, body: object) -> bytes:
    text = None if body is None else json.dumps(body)
    connection.request(method, path, text, {"Content-Type": "application/json"} if text else {})
    answer = connection.getresponse()
    said = answer.read()
    if answer.status >= 400:
        raise RuntimeError(f"{method} {path}: {answer.status} {said[:300]!r}")
    return said


def _ask(address: str, method: str, path: str, body: object = None) -> dict[str, list[dict[str, str]]]:
    connection = _connect(address)
    said: dict[str, list[dict[str, str]]] = json.loads(_say(connection, method, path, body))
    connection.close()
    return said


@contextmanager
def served(command: list[str], ready: str) -> Iterator[tuple[str, int]]:
    """A process that serves, at which address and under which id, from when it is ready until the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen([*command, str(port)], stdout=log, stderr=log, env={**os.environ, "NO_COLOR": "1"})
        address = f"http://127.0.0.1:{port}"
        try:
            for _ in range(600):
                try:
                    _ask(address, "GET", ready)
                    break
                except (OSError, RuntimeError, http.client.HTTPException, json.JSONDecodeError):
                    time.sleep(0.1)
            yield address, process.pid
        finally:
            process.terminate()
            process.wait(30)
