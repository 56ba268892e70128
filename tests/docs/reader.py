"""Somebody who follows a page with a terminal: types its commands in a folder of their own, and reads what is said."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from tests.docs.blocks import blocks
from tests.serve.serving import PATIENCE, ROOT, environment

Found = TypeVar("Found")

INSTEAD = {
    "http://127.0.0.1:8080": "{api}",
    "https://duly.example": "{api}",
    "duly_live_…": "{key}",
    "4fJ2kQ9x": "{id}",
    "key revoke": "key revoke --yes",  # asked for where nobody sits at a terminal
    "postgresql://…": "{postgres}",
    "postgresql://shop@db/shop": "{postgres}",
    "redis://localhost:6379/0": "{redis}",
    "2026a:…": "{sealing}",
    "localhost:8000": "{web}",
    "manage.py runserver": "manage.py runserver --noreload 0",  # any port, and one process to end
    "/etc/": "{etc}/",
    "-g duly": "-g {group}",
}
"""What pages name that is not here, and all that tests put in its place; ports are chosen by DULY_API_PORT=0."""

PIP = "the machine that tests run on need not reach an index of packages"
HOST = "it would change the machine that the tests run on"
LONG = "it is what runs these tests, or installs what they need"

NOT_RUN = {
    ("docs/deployment.md", "python3 -m venv /opt/duly"): HOST,
    ("docs/deployment.md", "/opt/duly/bin/pip install '.[server,postgres]'"): PIP,
    ("docs/deployment.md", "useradd --system --home-dir /var/lib/duly duly"): HOST,
    ("docs/deployment.md", "systemctl enable --now duly"): HOST,
    ("docs/integrations.md", "pip install 'duly[server,django,postgres]'"): PIP,
    ("docs/tracing.md", "pip install 'duly[otel]'"): PIP,
    ("README.md", "scripts/serve"): LONG,
    ("README.md", "scripts/test --fast"): LONG,
    ("README.md", "pip install ."): PIP,
    ("README.md", "pip install '.[server]'"): PIP,
    ("README.md", "pip install '.[postgres]'"): PIP,
    ("README.md", "pip install '.[redis]'"): PIP,
    ("CONTRIBUTING.md", "scripts/test --fast"): LONG,
    ("CONTRIBUTING.md", "scripts/test"): LONG,
    ("CONTRIBUTING.md", "scripts/check"): LONG,
    ("CONTRIBUTING.md", "scripts/test tests/core -k cron"): LONG,
    ("CONTRIBUTING.md", "DULY_TEST_WORKERS=0 scripts/test --pdb"): LONG,
    ("CONTRIBUTING.md", "DULY_TEST_WITHOUT=pgbouncer scripts/test"): LONG,
    ("CONTRIBUTING.md", "scripts/test --every-store tests/api"): LONG,
    ("examples/notifications/README.md", "pip install fastapi 'duly[server]'"): PIP,
}
"""Every command on a page that no test runs, with the reason; test_not_run.py looks up what it names."""


def steps(text: str) -> list[str]:
    """The commands of a block, each by itself, without what is said about it; lines that end in a backslash go on."""
    joined = re.sub(r"\\\n\s*", "", text)
    lines = [re.sub(r"\s+#.*", "", line.removeprefix("$ ")).strip() for line in joined.splitlines()]
    return [part for line in lines for part in re.split(r" && ", line) if part]


class Started:
    """A command that stays."""

    def __init__(self, command: str, folder: Path, variables: dict[str, str]) -> None:
        self.command = command
        self._log = folder / f"said-{time.monotonic_ns()}.log"
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", f"exec {command}"],
                cwd=folder,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def said(self) -> str:
        """Its lines, without one that is still being written."""
        text = self._log.read_text("utf-8", "replace")
        return text[: text.rfind("\n") + 1]

    def until(self, condition: Callable[[], Found], what: str) -> Found:
        give_up_at = time.monotonic() + PATIENCE
        while not (found := condition()):
            assert self.process.poll() is None, f"{self.command} ended with {self.process.returncode}\n{self.said()}"
            assert time.monotonic() < give_up_at, f"waited for {what}: {self.command}\n{self.said()[-3000:]}"
            time.sleep(0.05)
        return found

    def says(self, pattern: str) -> str:
        """Wait until it has said this; answers the group of the pattern, or all of it."""
        found = self.until(lambda: re.search(pattern, self.said()), pattern)
        assert found is not None
        return found[found.re.groups]

    def url(self) -> str:
        """Where a server listens, once it is ready."""
        return self.says(r"is ready: (http://[^ ]+) ")

    def close(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Reader:
    """``given`` is what stands in for what pages name, by the words of ``INSTEAD``."""

    def __init__(self, folder: Path, quick: Path) -> None:
        """``quick`` is a folder with a ``duly`` that starts quickly, for commands that end."""
        self.folder = folder
        self.given: dict[str, str] = {}
        self.variables = environment(DULY_API_PORT="0", DULY_LOG_FORMAT="console", PYTHONUNBUFFERED="1")
        self.variables["PATH"] = f"{folder / 'bin'}:{self.variables['PATH']}"
        self._quick = quick
        self.variables["PYTHONPATH"] += f":{folder}"
        self.started: list[Started] = []
        (folder / "bin").mkdir()
        for name, words in (("duly", "-m duly"), ("python", ""), ("flask", "-m flask"), ("uvicorn", "-m uvicorn")):
            self.has_program(name, f'exec {sys.executable} {words} "$@"')

    def has_program(self, name: str, script: str) -> None:
        program = self.folder / "bin" / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def instead(self, text: str) -> str:
        """A text of a page with what is here in the place of what it names."""
        for named, here in INSTEAD.items():
            if named in text:
                text = text.replace(named, here.format(**self.given))
        return text

    def type(self, text: str, code: int = 0, within: str = ".") -> str:
        """Type commands that end, and see that they end so; answers what they said. Comments are not typed."""
        text = re.sub(r"(^|\s)#.*", "", text)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.instead(text)],
            cwd=self.folder / within,
            env={**self.variables, "PATH": f"{self._quick}:{self.variables['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == code, f"{text}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr, done.stderr
        return done.stdout + done.stderr

    def listed(self, command: str) -> list[dict[str, Any]]:
        """What a command that lists has found."""
        items: list[dict[str, Any]] = json.loads(self.type(f"{command} -o json -q"))["items"]
        return items

    def start(self, command: str, within: str = ".") -> Started:
        """Type a command that stays, in a terminal of its own."""
        self.started.append(Started(self.instead(command), self.folder / within, self.variables))
        return self.started[-1]

    def serve(self) -> Started:
        """A server beside what a page types, on the folder's own database."""
        served = self.start("duly serve")
        self.given["api"] = served.url()
        return served

    def close(self) -> None:
        for started in self.started:
            started.close()


def page_blocks(page: str, *languages: str) -> list[str]:
    """The texts of a page's blocks in these languages, in order; ``page`` is a path from the top folder."""
    found = blocks(page, (ROOT / page).read_text("utf-8"))
    return [block.text for block in found if block.language in languages]
