"""docs/testing.md: its files are saved, and pytest runs its tests."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.reader import page_blocks
from tests.serve.serving import environment

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
FILE = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.processes
@pytest.mark.timeout(300)
def test_the_tests_of_the_page_pass(tmp_path: Path) -> None:
    files = FILE.findall(PAGE.read_text())
    assert PAGE.read_text().count("```python") == len(files) == 4
    for name, text in files:
        (tmp_path / name).write_text(text)
    (settings,) = page_blocks("docs/testing.md", "toml")
    (tmp_path / "pyproject.toml").write_text(settings)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "duly.testing.plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout
    assert not list(tmp_path.glob("*.db")), "nothing was stored where the app itself would"
