"""A window that the database itself refuses is told by name, so that it alone is put off, whoever else fires."""

import pytest

from duly.core.errors import StoreError
from duly.core.timing import Every
from tests.contract.suite import Trial
from tests.stores import ModelSubject, Subject

TOO_MUCH = 2**63
"""A priority that no database has room for."""


@pytest.fixture(autouse=True)
def on_a_database(access: Subject | ModelSubject) -> None:
    if isinstance(access, ModelSubject):
        pytest.skip("the model has room for everything")


async def test_a_window_that_the_database_refuses_is_named_and_alone_put_off(trial: Trial) -> None:
    bad = await trial.put("bad", Every(seconds=30), priority=TOO_MUCH)
    good = await trial.put("good", Every(seconds=60))
    trial.clock.move(seconds=65)
    with pytest.raises(StoreError) as refused:
        await trial.fire()
    assert {tried.schedule_id for tried in refused.value.details["tried"]} == {bad.id, good.id}
    with pytest.raises(StoreError) as refused:
        await trial.fire(limit=1)
    (tried,) = refused.value.details["tried"]
    assert tried.schedule_id == bad.id
    assert await trial.store.set_aside(tried, "the database says no")
    assert (await trial.schedule(bad)).last_error == "the database says no"
    assert (await trial.schedule(good)).last_error is None
    assert (await trial.fire()).runs == 1
    assert len(await trial.runs(good)) == 1
