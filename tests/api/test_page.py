"""The commands of docs/rest.md are run, one after another, against a server on a socket."""

import asyncio
import contextlib
import json
import os
import re
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import uvicorn

from duly import Duly
from duly.api.application import application
from duly.api.problems import CODES
from tests.api.conftest import sqlite_url
from tests.app.conftest import until
from tests.counting import at_least

PAGE = (Path(__file__).parents[2] / "docs" / "rest.md").read_text()
# What is refused on purpose, to show a problem.
REFUSED = "Mars/Olympus"


def commands() -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    found = [line for block in blocks for line in re.split(r"\n(?=curl|API=)", block.strip())]
    return [command for command in found if command.startswith("curl")]


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[str]:
    app = Duly(sqlite_url(tmp_path))
    await app.open()
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(application(app), lifespan="off", log_config=None)
    running = uvicorn.Server(config)
    running.capture_signals = contextlib.nullcontext  # type: ignore[method-assign,assignment]
    task = asyncio.create_task(running.serve([listener]))
    await until(lambda: running.started)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/api/v1"
    running.should_exit = True
    await task
    await app.close()


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not on this machine")
@pytest.mark.processes
async def test_every_command_of_the_page_does_what_it_says(server: str) -> None:
    at_least(commands(), 52, "commands")
    here = {**os.environ, "no_proxy": "*"}
    for command in commands():
        words = f"API={server}\n{command} -w '\\n%{{http_code}}'"
        shell = await asyncio.create_subprocess_exec("sh", "-c", words, stdout=asyncio.subprocess.PIPE, env=here)
        output = (await shell.communicate())[0].decode()
        body, _, status = output.rpartition("\n")
        if REFUSED in command:
            shown = json.loads(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)[0])
            told = json.loads(body)
            del told["requestId"], told["instance"]
            assert told == shown
        else:
            assert 200 <= int(status) < 300, f"{command}\n{output}"


def test_every_code_is_on_the_page() -> None:
    assert {code for code in at_least(CODES, 54, "codes") if f"`{code}`" not in PAGE} == set()
