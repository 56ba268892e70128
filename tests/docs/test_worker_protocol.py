"""docs/worker-protocol.md: its shell works as it stands."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.client.serving import served

pytestmark = pytest.mark.processes

PAGE = Path(__file__).parents[2] / "docs" / "worker-protocol.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="curl and jq are not on this machine")
def test_the_commands_work_in_this_order(tmp_path: Path) -> None:
    with served(f"sqlite:///{tmp_path / 'duly.db'}") as url:
        script = "set -eu\n" + "\n".join(blocks("sh")).replace("http://127.0.0.1:8080", url)
        done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, timeout=110, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    made, beat, first, again, _, failed, released = [json.loads(line) for line in done.stdout.splitlines() if line]
    assert [run["runId"] for run in beat["runs"]] == [made["id"]]
    assert first == again == {"runId": made["id"], "status": "completed"}
    assert (failed["status"], released) == ("failed", {"released": 0})
