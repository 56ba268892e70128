"""docs/cli.md: every command on the page works, and its table of exit codes is the one in force."""

import re
import subprocess
from pathlib import Path

import pytest

from duly.cli import failing
from tests.cli.conftest import clean_environment
from tests.client.serving import served
from tests.serve.serving import Served
from tests.warm import warm_program

pytestmark = pytest.mark.processes

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
ADDRESS = "http://127.0.0.1:8080"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.timeout(600)
def test_the_commands_work_in_this_order(tmp_path: Path) -> None:
    script = "\n".join(blocks("sh"))
    assert script.count("duly ") > 30
    assert script.count("duly health ") == 1
    script = script.replace("duly health ", "duly health --timeout 60 ")  # two seconds are little on a busy machine
    server = Served(tmp_path).ready()
    try:
        path = clean_environment()["PATH"]
        with warm_program(tmp_path) as programs:
            done = subprocess.run(
                ["bash", "-euxo", "pipefail", "-c", script.replace(ADDRESS, server.url)],
                cwd=tmp_path,
                env=clean_environment({"PATH": f"{programs}:{path}"}),
                capture_output=True,
                text=True,
                timeout=500,
                check=False,
            )
    finally:
        server.close()
    assert done.returncode == 0, done.stderr[-2000:]
    assert not [line for line in done.stderr.splitlines() if line.startswith("duly: ")]


def test_the_python_on_the_page_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = blocks("python")
    with served(f"sqlite:///{tmp_path / 'duly.db'}") as url:
        exec(compile(example.replace(ADDRESS, url), str(PAGE), "exec"), {})
    assert capsys.readouterr().out == ""


def test_the_exit_codes_on_the_page_are_these() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE.read_text("utf-8"), re.MULTILINE)}
    known = {value for name, value in vars(failing).items() if name.isupper() and isinstance(value, int)}
    assert told == known | {0}
