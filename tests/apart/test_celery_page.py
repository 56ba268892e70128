"""docs/integrations.md on Celery: its commands, typed on tables of django-celery-beat, with a target that is there."""

import pytest

pytest.importorskip("celery", reason="server absent: celery: it lives apart, run scripts/test-apart")

from tests.cli.beat import Beat
from tests.docs.reader import Reader, page_blocks, steps

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300, func_only=True)]
PAGE = "docs/integrations.md"


def test_what_is_imported_goes_to_celery(reader: Reader, fresh_postgres: str, redis_url: str) -> None:
    look, bring, serve = steps(page_blocks(PAGE, "console")[-1])
    (target,) = page_blocks(PAGE, "toml")
    reader.given |= {"postgres": fresh_postgres, "redis": redis_url}
    (reader.folder / "duly.toml").write_text(reader.instead(target))
    beat = Beat(fresh_postgres)
    beat.add("intervalschedule", every=10, period="minutes")
    beat.add("periodictask", name="poll", task="shop.poll", interval_id=1)
    beat.close()
    reader.type(look)
    assert not (reader.folder / "duly.db").exists(), "a dry run needs no database"
    reader.type(bring)
    (schedule,) = reader.listed("duly schedule list")
    assert (schedule["enabled"], schedule["target"]["headers"]) == (False, {"task": "shop.poll"})
    served = reader.start(serve)
    served.url()
    reader.type("duly schedule trigger poll")

    def delivered() -> bool:
        (run,) = reader.listed("duly run list")
        assert run["status"] in ("pending", "running", "completed"), run
        return bool(run["status"] == "completed")

    served.until(delivered, "the task to be in its queue")
