"""S3's hot standby: one leads, the other takes over when it is gone, and no window is missed or doubled."""

from pathlib import Path

from duly import Settings
from duly.app.watching import leader_lease
from examples.standby import make_app
from tests.app.conftest import until

QUICK = Settings(election="database", lease=1.5, heartbeat=0.5, poll=0.05)


async def test_the_standby_takes_over(tmp_path: Path) -> None:
    url = f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}"
    first, second = (make_app(url, settings=QUICK) for _ in range(2))
    await first.start()

    async def leader_term() -> int:
        lease = await leader_lease(first if first_runs else second)
        return lease.term if lease is not None else 0

    first_runs = True
    term = await until(leader_term)
    await second.start()
    await first.stop()
    first_runs = False

    async def next_term() -> bool:
        return bool(await leader_term() > term)

    await until(next_term)

    async def checked() -> bool:
        done = (await second.runs.list(schedule="health-check", status="completed")).items
        return len(done) >= 2

    await until(checked)
    await second.open()
    await second.stop()
    windows = [run.window_key async for run in second.runs.iterate(schedule="health-check")]
    await second.close()
    assert len(windows) == len(set(windows))
