"""docs/webhooks.md: its receivers in Python and Node work, and its list of events is the one in force."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import duly
from duly.core.errors import SignatureInvalid
from duly.core.signing import signature_headers
from duly.core.webhook import EVENTS
from duly.runtime.clock import SystemClock

PAGE = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text("utf-8")
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = json.dumps({"type": "run.failed", "data": {"runId": "r1", "errorMessage": "ü"}}).encode()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def signed(body: bytes = BODY) -> dict[str, str]:
    now = SystemClock().now() // 1000
    return signature_headers(["whsec_" + "b" * 43 + "=", SECRET], id="m1", seconds=now, body=body)


def test_the_receiver_in_python(capsys: pytest.CaptureFixture[str]) -> None:
    words: dict[str, Any] = {}
    exec(compile(blocks("python")[1], "webhooks.md", "exec"), words)
    words["receive"](BODY, signed())
    assert capsys.readouterr().out == "run.failed r1\n"
    with pytest.raises(SignatureInvalid):
        words["receive"](BODY + b" ", signed())


def test_a_signed_body_that_is_no_json_is_refused() -> None:
    with pytest.raises(SignatureInvalid, match="no JSON"):
        duly.verify_webhook(b"x", signed(b"x"), [SECRET])


@pytest.mark.processes
def test_the_receiver_in_node(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    (tmp_path / "body").write_bytes(BODY)
    script = blocks("js")[0] + (
        "\nconst [, , headers, file] = process.argv;"
        '\nconst body = require("node:fs").readFileSync(file);'
        f'\nconsole.log(verify(body, JSON.parse(headers), "{SECRET}").data.runId);'
        f'\ntry {{ verify(Buffer.concat([body, Buffer.from(" ")]), JSON.parse(headers), "{SECRET}"); }}'
        "\ncatch (error) { console.log(error.message); }"
    )
    done = subprocess.run(
        [node, "-e", script, "-", json.dumps(signed()), str(tmp_path / "body")],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == ["r1", "no matching signature"]


def test_the_events_on_the_page_are_these() -> None:
    table = PAGE.partition("## Events")[2].partition("## Message format")[0]
    cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    names = [name for cell in cells for name in re.findall(r"`([a-z.]+)`", cell)]
    family = {name if not name.startswith(".") else f"schedule{name}" for name in names}
    assert family == set(EVENTS)
