"""README.md: its programs run as they stand there, and what it points to is there."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.counting import at_least
from tests.docs.blocks import pages
from tests.serve.serving import PATIENCE, ROOT, environment

PAGE = ROOT / "README.md"


def programs() -> list[str]:
    return re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.processes
def test_the_ten_lines_fire_and_end_cleanly(tmp_path: Path) -> None:
    (tmp_path / "hello.py").write_text(programs()[0])
    out = tmp_path / "out"
    with out.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-u", "hello.py"], cwd=tmp_path, env=environment(), stdout=log, stderr=log
        )
    try:
        give_up_at = time.monotonic() + PATIENCE
        while "attempt 1" not in out.read_text():
            assert process.poll() is None, out.read_text()
            assert time.monotonic() < give_up_at, out.read_text()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0, out.read_text()
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in out.read_text()


@pytest.mark.processes
def test_the_second_program_prints_what_its_jobs_answer(tmp_path: Path) -> None:
    (tmp_path / "reminder.py").write_text(programs()[1])
    done = subprocess.run(
        [sys.executable, "reminder.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "reminded 42\nreminded 43\n"), done.stderr


def test_what_the_pages_point_to_is_there() -> None:
    links = [
        (page, target)
        for page in (PAGE, *(ROOT / "docs" / name for name in pages()))
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    ]
    at_least(links, 123, "links")
    assert [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()] == []
