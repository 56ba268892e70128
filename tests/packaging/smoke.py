"""Try an installed duly outside of the checkout: `python smoke.py base|server|postgres`."""

import asyncio
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.request import Request, urlopen

import duly

SCRIPTS = Path(sysconfig.get_path("scripts"))


def cli(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([SCRIPTS / "duly", *arguments], capture_output=True, text=True, timeout=60)


def expect(condition: object, detail: object) -> None:
    if not condition:
        raise SystemExit(f"smoke test failed: {detail}")


async def run_a_job(url: str) -> None:
    """One run, enqueued and executed, and one schedule that fires, on a new store."""
    app = duly.Duly(url)
    fired = asyncio.Event()

    @app.job("double")
    async def double(number: int) -> int:
        return 2 * number

    @app.job("tick", every="1s")
    async def tick(run: duly.RunContext) -> None:
        fired.set()

    async with app, asyncio.timeout(60):
        run = await app.enqueue("double", {"number": 21})
        ended = await app.runs.wait(run.id, timeout=60)
        expect(ended.result == 42, ended)
        await fired.wait()


def base() -> None:
    installed = Path(duly.__file__)
    expect(installed.is_relative_to(sysconfig.get_path("purelib")), f"duly was imported from {installed}")
    version = importlib.metadata.version("duly")
    shown = cli("--version")
    expect(version in shown.stdout, shown)
    coming = cli("cron", "next", "0 9 * * *")
    expect(coming.returncode == 0 and coming.stdout, coming)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run_a_job(f"sqlite:///{folder}/duly.db"))
        refused = cli("serve", "--port", "0", "--database-url", f"sqlite:///{folder}/duly.db")
        expect(refused.returncode == 78 and "duly[server]" in refused.stderr, refused)


def server() -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(SCRIPTS / "duly"), "serve", "--port", "0", "--database-url", f"sqlite:///{folder}/duly.db"]
        served = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        try:
            assert served.stderr is not None
            url = json.loads(served.stderr.readline())["address"]

            def get(path: str, body: object = None) -> bytes:
                data = None if body is None else json.dumps(body).encode()
                request = Request(url + path, data, {"content-type": "application/json"} if data else {})
                with urlopen(request, timeout=60) as response:
                    return bytes(response.read())

            expect(b"<html" in get("/"), "the dashboard has no page")
            expect(b"swagger-ui" in get("/docs"), "/docs is not the page of Swagger UI")
            expect(len(get("/docs/swagger-ui-bundle.js")) > 1_000_000, "the script of /docs is not there")
            made = json.loads(get("/api/v1/schedules", {"key": "s", "jobType": "j", "everyMs": 5000}))
            expect(made["key"] == "s", made)
            expect(get("/readyz"), "not ready")
            served.send_signal(signal.SIGTERM)
            expect(served.wait(60) == 0, f"exit code {served.returncode}")
        finally:
            served.kill()
            served.wait()


def postgres() -> None:
    asyncio.run(run_a_job(os.environ["SMOKE_POSTGRES_URL"]))


PARTS: dict[str, Callable[[], None]] = {"base": base, "server": server, "postgres": postgres}

if __name__ == "__main__":
    PARTS[sys.argv[1]]()
    sys.stdout.write(f"{sys.argv[1]}: works with Python {sys.version.split()[0]}\n")
