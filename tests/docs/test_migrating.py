"""docs/migrating.md: the job that it shows runs what a crontab asks for."""

import re
from pathlib import Path
from typing import Any

import pytest

from duly.cli.importing.crontab import read_crontab
from duly.cli.importing.values import Imported

PAGE = (Path(__file__).parents[2] / "docs" / "migrating.md").read_text("utf-8")


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


@pytest.mark.processes
def test_the_job_on_the_page_runs_a_command_of_a_crontab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = Imported()
    line = "GREETING=hello\n0 1 * * * (echo $GREETING \\%; cat) > out%one%two"
    read_crontab(line, file="tab", timezone="UTC", job="shell", system=False, into=found)
    names: dict[str, Any] = {}
    exec(compile(block("python"), "migrating.md", "exec"), names)
    assert names["shell"](**found.carried[0].body["jobPayload"]) == 0
    assert (tmp_path / "out").read_text() == "hello %\none\ntwo"
