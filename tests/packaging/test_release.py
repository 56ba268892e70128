"""scripts/release refuses what is not ready, and hands the changelog's section to the release."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from duly.core.version import VERSION

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
TAG = f"v{VERSION}"
SECTION = f"## [{VERSION}] - 2026-12-01\n\n### Added\n\n- Schedules.\n"
READY = f"# Changelog\n\n## [Unreleased]\n\n### Added\n\n{SECTION}\n## [0.0.1] - 2026-01-01\n\n- Older.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files that the script reads, with a changelog that is ready, and a `gh` that writes down what it is given."""
    for name in ("scripts/release", "scripts/_env.sh", "pyproject.toml", "src/duly/core/version.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(READY)
    (tmp_path / "dist").mkdir()
    for name in (f"duly-{VERSION}-py3-none-any.whl", f"duly-{VERSION}.tar.gz"):
        (tmp_path / "dist" / name).touch()
    fake = tmp_path / "bin" / "gh"
    fake.parent.mkdir()
    fake.write_text(
        '#!/bin/sh\necho "$@" >>gh.log\n[ "$2" != view ] || [ -f released ] || exit 1\n'
        'while [ $# -gt 0 ]; do [ "$1" != --notes-file ] || cat "$2" >notes.md; shift; done\n'
    )
    fake.chmod(0o755)
    return tmp_path


def release(project: Path, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    environment = {**inherited, "PATH": f"{project / 'bin'}:{os.environ['PATH']}", **variables}
    return subprocess.run(
        [project / "scripts" / "release", *arguments], capture_output=True, text=True, env=environment, timeout=60
    )


def test_a_commit_that_is_ready_is_accepted(project: Path) -> None:
    done = release(project, "check", TAG)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{TAG} is ready to be released\n", "")


@pytest.mark.parametrize(
    ("tag", "changelog", "repository", "words"),
    [
        ("v9.9.9", READY, "", f"the tag is v9.9.9; expected {TAG}"),
        (TAG, READY.replace("2026-12-01", "unreleased"), "", f"expected '## [{VERSION}] - YYYY-MM-DD'"),
        (TAG, READY.replace(SECTION, ""), "", f"expected '## [{VERSION}] - YYYY-MM-DD'"),
        (TAG, READY.replace("### Added\n\n- Schedules.\n", ""), "", f"CHANGELOG.md says nothing about {VERSION}"),
        (TAG, READY.replace("[Unreleased]\n", "[Unreleased]\n\n- Late.\n"), "", "lines under [Unreleased]"),
        (TAG, READY, "somebody/else", "this is https://github.com/somebody/else; project.urls in pyproject.toml names"),
    ],
    ids=["tag", "no date", "no section", "empty section", "unreleased lines", "another repository"],
)
def test_a_commit_that_is_not_ready_is_refused(
    project: Path, tag: str, changelog: str, repository: str, words: str
) -> None:
    (project / "CHANGELOG.md").write_text(changelog)
    where = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": repository} if repository else {}
    done = release(project, "check", tag, **where)
    assert done.returncode == 1
    assert words in done.stderr


def test_notes_are_the_section_of_this_version(project: Path) -> None:
    assert release(project, "notes").stdout == "### Added\n\n- Schedules.\n\n"


def test_a_release_gets_the_notes_and_both_archives(project: Path) -> None:
    assert release(project, "publish", TAG).returncode == 0
    _, created = (project / "gh.log").read_text().splitlines()
    assert created.startswith(f"release create {TAG} --verify-tag --title duly {VERSION} --notes-file ")
    assert created.endswith(f"dist/duly-{VERSION}-py3-none-any.whl dist/duly-{VERSION}.tar.gz")
    assert (project / "notes.md").read_text() == "### Added\n\n- Schedules.\n\n"


def test_a_release_that_exists_is_updated(project: Path) -> None:
    (project / "released").touch()
    assert release(project, "publish", TAG).returncode == 0
    assert [line.split()[1] for line in (project / "gh.log").read_text().splitlines()] == ["view", "edit", "upload"]


@pytest.mark.parametrize("arguments", [(), ("check",), ("notes", TAG), ("tag", TAG)])
def test_other_arguments_show_the_usage(project: Path, arguments: tuple[str, ...]) -> None:
    done = release(project, *arguments)
    assert done.returncode == 2
    assert done.stderr.count("usage: scripts/release") == 4


def test_the_changelog_has_a_section_of_this_version_and_one_of_what_comes_next() -> None:
    headings = [line for line in (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines() if line.startswith("## ")]
    assert headings[0] == "## [Unreleased]"
    assert headings[1].startswith(f"## [{VERSION}] - ")
