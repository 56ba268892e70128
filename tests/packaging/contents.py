"""What the sdist and the wheel hold: `python -m tests.packaging.contents ARCHIVE…` fails on a difference."""

import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

ROOT = Path(__file__).parents[2]

MAX_WHEEL_BYTES = 3_500_000
"""Swagger UI is half a megabyte of it."""

MAX_SDIST_BYTES = 3_500_000


def tracked_files(folder: str = ".") -> list[str]:
    """The files of the repository below a folder, as Git would commit them."""
    # In CI another user may own the checkout.
    git = ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard", folder]
    listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in listed if (ROOT / name).is_file()]


def source_files() -> set[str]:
    """The files of the package, as a wheel names them."""
    return {name.removeprefix("src/") for name in tracked_files("src/duly")}


def wheel_problems(wheel: Path) -> list[str]:
    """What is missing in a wheel, and what should not be there."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    info = f"{'-'.join(wheel.name.split('-')[:2])}.dist-info"
    own = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    return _differences(wheel, names, source_files() | own, MAX_WHEEL_BYTES)


def sdist_problems(sdist: Path) -> list[str]:
    """What is missing in an sdist, and what should not be there."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames() if not archive.getmember(name).isdir()}
    own = {"PKG-INFO", "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", ".gitignore"}
    return _differences(sdist, names, {f"src/{name}" for name in source_files()} | own, MAX_SDIST_BYTES)


def metadata_of(wheel: Path) -> Message:
    """The metadata that an index shows."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return BytesParser().parsebytes(archive.read(name))


def _differences(archive: Path, names: set[str], expected: set[str], max_bytes: int) -> list[str]:
    size = archive.stat().st_size
    return [
        *(f"{archive.name} does not hold {name}" for name in sorted(expected - names)),
        *(f"{archive.name} holds {name}, which is no part of it" for name in sorted(names - expected)),
        *([f"{archive.name} has {size} bytes; expected {max_bytes} at most"] if size > max_bytes else []),
    ]


def main(*archives: str) -> int:
    kinds = {".whl": wheel_problems, ".gz": sdist_problems}
    problems = [problem for name in archives for problem in kinds[Path(name).suffix](Path(name))]
    for problem in problems:
        sys.stderr.write(problem + "\n")
    if sorted(Path(name).suffix for name in archives) != sorted(kinds):
        problems.append("expected one wheel and one sdist")
        sys.stderr.write(f"{problems[-1]}, not {' '.join(archives) or 'nothing'}\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
