"""docs/workflows.md: the code on the page works as it is."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "workflows.md"


def test_the_code_on_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(
        compile("\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)), str(PAGE), "exec"),
        names,
    )
    assert asyncio.run(names["main"]()) == {"paid": "charge-7", "sent": "shipped for charge-7"}
    assert asyncio.run(names["approve"]()) == "approved by ann"
    assert len(asyncio.run(names["pay"](9))) == 1
    assert len(asyncio.run(names["start_and_find"]())) == 1
