"""``app.schedules.forecast``: the load to come."""

from pathlib import Path
from typing import Any

import pytest

from duly import Cron, Duly, Every
from duly.app.owning import Owning
from duly.core.credential import Whose
from duly.core.errors import ValidationFailed
from duly.testing import ManualClock

NINE = 1_800_003_600_000 - 3_600_000
"""An hour before a full hour."""


@pytest.fixture
async def app(tmp_path: Path):
    app = Duly(f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}", clock=ManualClock(NINE))
    await app.open()
    yield app
    await app.close()


async def test_few_schedules_are_forecast_exactly(app: Duly) -> None:
    await app.schedules.create(key="quarterly", timing=Cron("*/15 * * * *"), job="x")
    await app.schedules.create(key="hourly", timing=Every("1h"), job="x")
    asleep = await app.schedules.create(key="asleep", timing=Every("1m"), job="x")
    await app.schedules.pause(asleep.id)
    forecast = await app.schedules.forecast(hours=2)
    assert forecast.exact
    assert (forecast.schedules, forecast.sampled, forecast.step, len(forecast.fires)) == (2, 2, 60, 120)
    counted = [round((count and place) or 0) for place, count in enumerate(forecast.fires) if count]
    assert counted == [15, 30, 45, 60, 75, 90, 105]
    assert forecast.fires[60] == 2


async def test_an_owner_is_told_of_their_own_only(app: Duly) -> None:
    for owner in ("ann", "ann", "bob"):
        await app.schedules.create(timing=Every("30m"), job="x", metadata={"owner_id": owner, "tenant_id": "acme"})
    ann = app.acting_for(Owning(Whose("acme", "ann")))
    assert sum((await ann.schedules.forecast(hours=1)).fires) == 2
    assert sum((await app.schedules.forecast(hours=1)).fires) == 3


@pytest.mark.parametrize("words", [{"hours": 0}, {"hours": 49}, {"step": 1}, {"hours": 48, "step": 60}])
async def test_what_would_be_too_much_is_refused(app: Duly, words: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        await app.schedules.forecast(**words)
