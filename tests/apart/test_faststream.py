"""The FastStream consumer of the examples, as a process of its own, on a schedule that really fires."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("faststream", reason="server absent: faststream: it lives apart, run scripts/test-apart")

from tests.examples.test_consumers import _received


async def test_a_faststream_consumer_receives_each_window_once(redis_url: str, tmp_path: Path):
    command = [sys.executable, "-m", "examples.consumers.faststream_app"]
    lines, runs = await _received(redis_url, "stream=reports-faststream", command, tmp_path)
    assert sorted(lines) == sorted(f"report {run.id} {{'user': 42}}\n" for run in runs)
