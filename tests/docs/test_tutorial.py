"""docs/tutorial.md: every file and every command on the page, in its order, against a real service."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.serve.serving import Served, environment, own_port

pytestmark = pytest.mark.processes

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Reader:
    """Somebody who follows the page: saves its files, and types its commands in two terminals."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.served: list[Served] = []
        self.said: list[str] = []
        (folder / "bin").mkdir()
        for name, module in (("duly", "-m duly"), ("python", "")):
            program = folder / "bin" / name
            program.write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
            program.chmod(0o755)

    def follow(self, language: str, extra: str, text: str) -> None:
        if language == "python":
            name = re.match(r"# (\w+\.py)\n", text)
            assert name, f"which file is this?\n{text}"
            (self.folder / name[1]).write_text(text)
        elif language == "console":
            if "kill" in extra:
                self.the_run_that_failed()  # the kill must not hit its last attempt
                self.served[-1].end(signal.SIGKILL)
            assert text.strip() == "duly serve --app reminders:app"
            self.served.append(Served(self.folder, "--app", "reminders:app", port=self.port).ready())
        else:
            assert language == "sh", f"who follows a block of {language}?"
            self.type(text)

    def type(self, text: str) -> None:
        variables = environment(DULY_API_URL=self.url)
        variables["PATH"] = f"{self.folder / 'bin'}:{variables['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text.replace("http://127.0.0.1:8080", self.url)],
            cwd=self.folder,
            env=variables,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        assert "Traceback" not in done.stderr
        self.said.append(done.stdout + done.stderr)

    def the_run_that_failed(self) -> dict[str, Any]:
        service = self.served[-1]
        runs = service.until(lambda: service.runs(jobType="remind", status="failed"), "the run that fails")
        return runs[0]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        for served in self.served:
            served.close()


@pytest.mark.timeout(600)
def test_the_tutorial_works_from_its_first_line_to_its_last(tmp_path: Path) -> None:
    blocks = BLOCK.findall(PAGE.read_text("utf-8"))
    assert len(blocks) >= 14
    with own_port() as port:
        reader = Reader(tmp_path, port)
        try:
            for block in blocks:
                reader.follow(*block)
            check_what_happened(reader)
        finally:
            reader.close()


def check_what_happened(reader: Reader) -> None:
    said, service = "\n".join(reader.said), reader.served[-1]
    assert "02:30 does not exist that day" in said
    assert "exit code 2" in said
    assert "expected 0-23" in said
    assert "user 9: hello" in said
    assert {"standup", "pulse", "u42-tax", "tea", "weekly-1", "weekly-3"} <= set(said.split())
    failing = reader.the_run_that_failed()
    assert failing["errorMessage"] == "ValueError: there is no user -1"
    assert failing["attemptNumber"] == 3
    windows = [run["windowKey"] for run in service.runs(jobType="pulse")]
    assert len(windows) == len(set(windows)) > 0
