"""The commands of pages that no test runs: all of them are in one list, and what they name is there."""

import configparser
import re
import shlex
import shutil
import subprocess
import tomllib

import pytest

from tests.docs.reader import HOST, LONG, NOT_RUN, PIP, page_blocks, steps
from tests.serve.serving import ROOT
from tests.servers import NAMES

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


def of(reason: str) -> list[tuple[str, str]]:
    return [step for step, why in NOT_RUN.items() if why == reason]


def test_they_are_on_their_pages_and_no_more_than_these() -> None:
    """Who adds to the list changes this number, and says why in the list."""
    assert len(NOT_RUN) == 20
    for page, step in NOT_RUN:
        assert step in [one for block in page_blocks(page, "sh", "console") for one in steps(block)], (page, step)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/tracing.md"])
def test_pages_of_which_nothing_is_run_have_no_other_commands(page: str) -> None:
    found = [step for block in page_blocks(page, "sh", "console") for step in steps(block)]
    assert found
    assert [step for step in found if (page, step) not in NOT_RUN] == []


@pytest.mark.parametrize(("page", "step"), of(PIP))
def test_what_is_installed_has_these_extras(page: str, step: str) -> None:
    named = re.fullmatch(r"(?:/opt/duly/bin/)?pip install (?:fastapi )?'?(?:duly|\.)(?:\[([a-z,]+)\])?'?", step)
    assert named is not None, step
    assert set((named[1] or "server").split(",")) <= set(EXTRAS)


def test_the_other_extras_that_the_readme_names_are_there() -> None:
    (line,) = re.findall(r"# a target; also (.*)", (ROOT / "README.md").read_text("utf-8"))
    assert set(line.split(", ")) <= set(EXTRAS)


@pytest.mark.parametrize(("page", "step"), of(LONG))
@pytest.mark.processes
def test_scripts_are_there_with_what_they_are_given(page: str, step: str) -> None:
    words = shlex.split(step)
    variables = [word.split("=") for word in words if re.match(r"\w+=", word)]
    script, *arguments = words[len(variables) :]
    assert (ROOT / script).stat().st_mode & 0o111
    assert all((ROOT / word).exists() for word in arguments if "/" in word)
    for name, value in variables:
        assert subprocess.run(["grep", "-rqs", name, ROOT / "scripts", ROOT / "tests"], check=False).returncode == 0
        assert name != "DULY_TEST_WITHOUT" or value in NAMES


def test_the_host_is_told_what_the_unit_expects() -> None:
    venv, user, enable = (shlex.split(step) for _, step in of(HOST))
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read(ROOT / "deploy" / "systemd" / "duly.service")
    service = unit["Service"]
    assert service["ExecStart"].startswith(f"{venv[-1]}/bin/duly ")
    assert (user[-1], user[user.index("--home-dir") + 1]) == (service["User"], service["WorkingDirectory"])
    assert (ROOT / "deploy" / "systemd" / f"{enable[-1]}.service").is_file()
    assert "multi-user.target" in unit["Install"]["WantedBy"], "or there would be nothing to enable"


@pytest.mark.parametrize("words", [shlex.split(step) for _, step in of(HOST)], ids=lambda words: words[0])
@pytest.mark.processes
def test_the_programs_of_the_host_know_these_options(words: list[str]) -> None:
    program = shutil.which(words[0], path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
    if program is None:
        pytest.skip(f"{words[0]} is not on this machine")
    ask = [program, "-m", "venv", "--help"] if words[0] == "python3" else [program, "--help"]
    told = subprocess.run(ask, capture_output=True, text=True, timeout=60, check=False)
    options = [word for word in words[1:] if word.startswith("--") or word == "enable"]
    for word in options:
        assert word in told.stdout + told.stderr
