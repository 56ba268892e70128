"""One strike of two B rows, with real processes and a real broker: the whole matrix is `scripts/chaos`."""

from __future__ import annotations

import pytest

from tests.chaos.__main__ import strike
from tests.chaos.rows import ROWS
from tests.conftest import need


@pytest.mark.timeout(600)
@pytest.mark.parametrize("id", ["B04", "B05"])
@pytest.mark.server
async def test_a_broker_that_is_killed_while_it_is_sent_to_has_every_message_in_the_end(id: str) -> None:
    (row,) = (row for row in ROWS if row.id == id)
    with need(row.setting.broker):
        figures = await strike(row, "sqlite", 1, "suite", None, 1)
    assert figures.remarks["messages"] == figures.runs > 0
