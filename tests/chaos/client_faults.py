"""N rows of the API's clients: answers that are lost, and readers that never read."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, suppress

from tests.chaos.trial import Trial
from tests.serve.serving import Served
from tests.store.postgres.proxy import Fault, Proxy


async def lost_answers(trial: Trial) -> None:
    """N03: a client of the API loses ten answers and asks again with the same key; nothing is made twice."""
    with ExitStack() as stack:
        served = Served(trial.folder, "--roles", "api", "--database-url", trial.fleet.url)
        stack.callback(served.close)
        served.ready(120)
        proxy = Proxy(served.url.replace("http://", "http://nobody@"))
        stack.callback(proxy.close)
        way = proxy.url.replace("nobody@", "")
        ids = set()
        for number in range(10):
            proxy.set(Fault.LOSE_REPLY, at=b"POST /api/v1/runs")
            key = f"{trial.figures.repetitions}-{number}"
            ids.add(await asyncio.to_thread(_post_until_answered, way, key))
        if proxy.met < 10 or len(ids) != 10:
            trial.figures.findings.append(f"{proxy.met} answers were lost, {len(ids)} runs were made for 10 asked")
        stored = [run async for run in trial.client.runs.iterate(job="nap")]
        asked = {run.id for run in trial.asked}
        windows = [run for run in stored if run.kind == "window"]
        made = {run.id for run in stored} - asked - {run.id for run in windows}
        trial.made |= ids
        if made - trial.made:
            trial.figures.findings.append(f"{len(made)} runs are there, {len(trial.made)} were acknowledged")
        trial.figures.remarks["answers lost"] = trial.figures.remarks.get("answers lost", 0) + proxy.met


def _post_until_answered(url: str, key: str) -> str:
    body = json.dumps({"jobType": "nap", "payload": {"seconds": 0}}).encode()
    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
    for _ in range(500):
        with suppress(OSError, urllib.error.URLError, ValueError):
            request = urllib.request.Request(f"{url}/api/v1/runs", data=body, headers=headers, method="POST")
            with urllib.request.urlopen(request, timeout=20) as answer:
                return str(json.load(answer)["id"])
        time.sleep(0.1)
    raise AssertionError("the API never answered")


async def slow_readers(trial: Trial) -> None:
    """N04: 500 clients ask for the stream of events and never read; the API answers others, and forgets them after."""
    with ExitStack() as stack:
        served = Served(trial.folder, "--roles", "api", "--database-url", trial.fleet.url)
        stack.callback(served.close)
        served.ready(120)
        port = int(served.url.rpartition(":")[2])
        before = len(os.listdir(f"/proc/{served.process.pid}/fd"))
        wires = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(500)]
        for wire in wires:
            stack.callback(wire.close)
            with suppress(OSError):
                wire.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n")
        await trial.ask(50, "nap", seconds=0)
        for _ in range(10):
            answer = await asyncio.to_thread(urllib.request.urlopen, f"{served.url}/api/v1/runs?limit=1", timeout=60)
            answer.close()
            await trial.pause(0.2)
        for wire in wires:
            wire.close()
        pid = served.process.pid
        await trial.wait_for(lambda: len(os.listdir(f"/proc/{pid}/fd")) <= before + 20, "the readers to be forgotten")
