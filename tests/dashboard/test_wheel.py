"""What a page needs is in the wheel: templates, scripts and styles, and nothing else than those."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.counting import at_least

ROOT = Path(__file__).parents[2]


@pytest.mark.processes
def test_the_wheel_carries_every_template_and_every_static_file(tmp_path: Path) -> None:
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    name = made.stdout.split()[-1]

    with zipfile.ZipFile(tmp_path / name) as wheel:
        carried = {path for path in wheel.namelist() if path.startswith("duly/dashboard/")}

    there = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src" / "duly" / "dashboard").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    needed = at_least(
        {path for path in there if "/templates/" in path or "/static/" in path}, 0, "templates and static files"
    )
    assert needed <= carried
    assert {Path(path).suffix for path in carried} <= {".py", ".html", ".css", ".js", ".svg"}
