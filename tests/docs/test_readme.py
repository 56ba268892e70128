"""README.md: its programs run unchanged, its figures are measured ones, and its links lead somewhere."""

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
FIGURES = (
    ("A", "duly", "recurring 5000", "per second"),
    ("F", "limit", "full 5000", "per second"),
    ("B", "duly", "5000/s", "p99 ms"),
    ("D", "duly", "1000000 stored", "p99 ms"),
    ("D", "duly", "1000000 stored", "rss MB"),
)
"""For each row of the table of figures: the cell, who, what and figure in bench/RESULTS.md."""


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
def test_the_second_program_prints_the_results_of_its_jobs(tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_text(programs()[1])
    done = subprocess.run(
        [sys.executable, "notes.py"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "note sent to 42\nnote sent to 43\n"), done.stderr


def test_the_figures_are_those_of_the_run_that_the_page_names() -> None:
    text = PAGE.read_text("utf-8")
    command, date = re.search(r"`(scripts/bench [^`]+)` \((\d{4}-\d\d-\d\d \d\d:\d\d UTC)", text).groups()  # type: ignore[union-attr]
    results = (ROOT / "bench" / "RESULTS.md").read_text("utf-8")
    (run,) = [part for part in results.split("\n## ") if part.startswith(date)]
    assert f"`{command} --write`" in run
    table = re.findall(r"^\| [^|]+ \| ([\d,]+) [^|]+ \| ([\d,]+) [^|]+ \|$", text, re.MULTILINE)
    assert table == [
        tuple(rounded(run, f"| {cell} | {who}/{store} | {what} |", figure) for store in ("sqlite", "postgres"))
        for cell, who, what, figure in FIGURES
    ]


def rounded(run: str, row: str, figure: str) -> str:
    """A figure of a row of results as the page shows it: rates to the hundred, the rest as a whole number."""
    (line,) = [line for line in run.splitlines() if line.startswith(row)]
    found = re.search(rf"{figure} \*\*([\d,.]+)\*\*", line)
    assert found is not None, line
    return f"{round(float(found[1].replace(',', '')), -2 if figure == 'per second' else 0):,.0f}"


def test_the_guarantees_read_the_same_on_both_pages() -> None:
    guarantees = [
        re.findall(r"^\d\. (\*\*.*?)(?=^\d\. |\n\n)", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
        for page in (PAGE, ROOT / "docs" / "guarantees.md")
    ]
    assert len(guarantees[0]) == 5
    assert guarantees[0] == guarantees[1]


def test_what_the_pages_point_to_is_there() -> None:
    links = [
        (page, target)
        for page in (PAGE, *(ROOT / "docs" / name for name in pages()))
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
    ]
    at_least(links, 133, "links")
    assert [f"{page.name}: {target}" for page, target in links if not (page.parent / target).exists()] == []
