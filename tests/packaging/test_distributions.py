"""The wheel and the sdist hold what they should, and an index shows what it should."""

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

from duly.core.version import VERSION
from tests.packaging.contents import ROOT, metadata_of, sdist_problems, source_files, tracked_files, wheel_problems

pytestmark = pytest.mark.processes

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a wheel and an sdist of this checkout."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    return built / f"duly-{VERSION}-py3-none-any.whl"


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Message:
    return metadata_of(wheel)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    assert len(source_files()) > 1000
    assert wheel_problems(wheel) == []


def test_the_sdist_holds_what_a_build_needs(built: Path) -> None:
    assert sdist_problems(built / f"duly-{VERSION}.tar.gz") == []


def test_a_missing_and_a_foreign_file_are_reported(wheel: Path, tmp_path: Path) -> None:
    changed = tmp_path / wheel.name
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(changed, "w") as partial:
        for name in whole.namelist():
            if name != "duly/py.typed":
                partial.writestr(name, whole.read(name))
        partial.writestr("tests/secret.txt", "")
    assert wheel_problems(changed)[:2] == [
        f"{wheel.name} does not hold duly/py.typed",
        f"{wheel.name} holds tests/secret.txt, which is no part of it",
    ]


def test_the_sdist_builds_the_same_wheel(built: Path, wheel: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(built / f"duly-{VERSION}.tar.gz", tmp_path, filter="data")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path / f"duly-{VERSION}", capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(wheel) as ours, zipfile.ZipFile(tmp_path / wheel.name) as theirs:
        assert {name: ours.read(name) for name in ours.namelist()} == {
            name: theirs.read(name) for name in theirs.namelist()
        }


def test_the_metadata_names_the_project(metadata: Message) -> None:
    assert (metadata["Name"], metadata["Version"], metadata["Requires-Python"]) == ("duly", VERSION, ">=3.11")
    assert (metadata["License-Expression"], metadata["License-File"]) == ("Apache-2.0", "LICENSE")
    urls = dict(line.split(", ") for line in metadata.get_all("Project-URL", []))
    assert urls.keys() == {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}
    assert set(metadata.get_all("Provides-Extra", [])) == set(PROJECT["optional-dependencies"])


def test_links_of_the_readme_work_on_an_index(metadata: Message) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    local = [target for target in re.findall(r"\]\(([^)#][^)]*)\)", readme) if not target.startswith("http")]
    assert len(local) >= 10
    assert [target for target in local if not (ROOT / target.partition("#")[0]).exists()] == []
    shown = str(metadata.get_payload())
    repository = PROJECT["urls"]["Repository"]
    targets = re.findall(r"\]\(([^)#][^)]*)\)", shown)
    assert [target for target in targets if not target.startswith("http")] == []
    assert len([target for target in targets if target.startswith(f"{repository}/")]) >= len(local)
    assert re.search(rf"!\[[^]]+]\({repository}/raw/v{VERSION}/docs/images/", shown)


def test_classifiers_name_the_supported_pythons() -> None:
    named = {found[1] for one in PROJECT["classifiers"] if (found := re.fullmatch(r".*:: Python :: (3\.\d+)", one))}
    floor = PROJECT["requires-python"].removeprefix(">=")
    assert floor in named
    assert (ROOT / "SUPPORT.md").read_text("utf-8").count(
        f"Python {floor} to {max(named, key=lambda v: int(v[2:]))}"
    ) == 1


def test_one_address_of_the_repository_is_used_everywhere() -> None:
    listed = tracked_files()
    assert len(listed) > 2000
    seen = set()
    for name in listed:
        path = ROOT / name
        if (
            path.suffix in (".md", ".toml", ".yml", ".yaml", ".html", "")
            and path.is_file()
            and "swagger_ui" not in name
        ):
            seen |= set(re.findall(r"https://github\.com/[\w.-]+/duly\b", path.read_text("utf-8", "replace")))
    assert seen == {PROJECT["urls"]["Repository"]}
