"""The contract that every store keeps, as tests that any store can run.

Give pytest a fixture ``store`` on an empty database that takes its time from the fixture ``clock``, and collect the
classes::

    import pytest_asyncio
    from duly.testing.contract import *

    @pytest_asyncio.fixture
    async def store(clock):
        store = MyStore(clock=clock)
        await store.open()
        yield store
        await store.close()

Some tests look behind the protocol: at the rows, at a second store on the same database, at a transaction that is cut
off. They ask for the fixture ``access`` (see ``Access``) and are skipped where there is none. The tests are coroutines:
pytest-asyncio has to be in its mode ``auto``.
"""

from __future__ import annotations

from pkgutil import iter_modules

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{part.name}" for part in iter_modules(__path__)))

from duly.testing.contract.access import Access, Crash  # noqa: E402  # after the line that lets pytest explain asserts
from duly.testing.contract.answering import TestAnswers  # noqa: E402
from duly.testing.contract.auditing import TestAuditing  # noqa: E402
from duly.testing.contract.backfilling import TestBackfilling  # noqa: E402
from duly.testing.contract.bulk import TestBulk, TestOperations  # noqa: E402
from duly.testing.contract.calendars import TestCalendars, TestExcludedWindows  # noqa: E402
from duly.testing.contract.catching_up import TestCatchingUp  # noqa: E402
from duly.testing.contract.changes import TestAuditTrail  # noqa: E402
from duly.testing.contract.children import TestChildren  # noqa: E402
from duly.testing.contract.claiming import TestClaiming, TestEnqueueing  # noqa: E402
from duly.testing.contract.control import TestComing, TestLookingBack, TestNamed, TestPurgingSchedules  # noqa: E402
from duly.testing.contract.dead import (  # noqa: E402
    TestDeadLetters,
    TestOnDead,
    TestRedriving,
)
from duly.testing.contract.electing import TestElecting  # noqa: E402
from duly.testing.contract.events import TestEvents  # noqa: E402
from duly.testing.contract.firing import TestFiring, TestGrabbing  # noqa: E402
from duly.testing.contract.fixtures import access, clock, trial  # noqa: E402
from duly.testing.contract.guarding import TestGuards  # noqa: E402
from duly.testing.contract.heirs import TestHeirs  # noqa: E402
from duly.testing.contract.keeping import TestExpiredPauses, TestPurging, TestUnknownJobs  # noqa: E402
from duly.testing.contract.keys import TestKeys  # noqa: E402
from duly.testing.contract.lanes import TestSingletons, TestUniques  # noqa: E402
from duly.testing.contract.listing import TestListingRuns, TestListingSchedules  # noqa: E402
from duly.testing.contract.on_event import TestGathering, TestOnEvent  # noqa: E402
from duly.testing.contract.order import TestFairShares, TestNewestFirst, TestQueuesFence, TestQueuesShare  # noqa: E402
from duly.testing.contract.overlap import TestOverlap, TestTriggering  # noqa: E402
from duly.testing.contract.owning import TestOwning, TestQuotas  # noqa: E402
from duly.testing.contract.positions import TestPositions  # noqa: E402
from duly.testing.contract.queues import (  # noqa: E402
    TestConcurrencyLimits,
    TestListingQueues,
    TestPausedQueues,
    TestRates,
)
from duly.testing.contract.redriving import TestRedrivingObeysOverlap  # noqa: E402
from duly.testing.contract.repeating import TestRepeating  # noqa: E402
from duly.testing.contract.repeating_asked import TestRepeatingWhatIsAsked  # noqa: E402
from duly.testing.contract.reporting import TestReporting  # noqa: E402
from duly.testing.contract.requests import TestRequests  # noqa: E402
from duly.testing.contract.schedules import TestChangingSchedules, TestPuttingSchedules  # noqa: E402
from duly.testing.contract.sessions import TestLeases, TestSessions  # noqa: E402
from duly.testing.contract.settling import TestSettling, TestSettlingMovesSchedules  # noqa: E402
from duly.testing.contract.steps import TestRecording, TestSuspending  # noqa: E402
from duly.testing.contract.stopping import TestStoppingWhatIsDue  # noqa: E402
from duly.testing.contract.suspects import TestSuspects  # noqa: E402
from duly.testing.contract.switching import TestRestores, TestResumingAll, TestSwitch  # noqa: E402
from duly.testing.contract.tables import TABLES, Dump, differences, sorted_rows  # noqa: E402
from duly.testing.contract.topics import TestTopics  # noqa: E402
from duly.testing.contract.tracing import TestTraces  # noqa: E402
from duly.testing.contract.trial import Trial, Worker  # noqa: E402
from duly.testing.contract.webhooks import TestTellingWebhooks, TestWebhooks  # noqa: E402
from duly.testing.contract.zombies import TestZombies  # noqa: E402

__all__ = [
    "TABLES",
    "Access",
    "Crash",
    "Dump",
    "TestAnswers",
    "TestAuditTrail",
    "TestAuditing",
    "TestBackfilling",
    "TestBulk",
    "TestCalendars",
    "TestCatchingUp",
    "TestChangingSchedules",
    "TestChildren",
    "TestClaiming",
    "TestComing",
    "TestConcurrencyLimits",
    "TestDeadLetters",
    "TestElecting",
    "TestEnqueueing",
    "TestEvents",
    "TestExcludedWindows",
    "TestExpiredPauses",
    "TestFairShares",
    "TestFiring",
    "TestGathering",
    "TestGrabbing",
    "TestGuards",
    "TestHeirs",
    "TestKeys",
    "TestLeases",
    "TestListingQueues",
    "TestListingRuns",
    "TestListingSchedules",
    "TestLookingBack",
    "TestNamed",
    "TestNewestFirst",
    "TestOnDead",
    "TestOnEvent",
    "TestOperations",
    "TestOverlap",
    "TestOwning",
    "TestPausedQueues",
    "TestPositions",
    "TestPurging",
    "TestPurgingSchedules",
    "TestPuttingSchedules",
    "TestQueuesFence",
    "TestQueuesShare",
    "TestQuotas",
    "TestRates",
    "TestRecording",
    "TestRedriving",
    "TestRedrivingObeysOverlap",
    "TestRepeating",
    "TestRepeatingWhatIsAsked",
    "TestReporting",
    "TestRequests",
    "TestRestores",
    "TestResumingAll",
    "TestSessions",
    "TestSettling",
    "TestSettlingMovesSchedules",
    "TestSingletons",
    "TestStoppingWhatIsDue",
    "TestSuspects",
    "TestSuspending",
    "TestSwitch",
    "TestTellingWebhooks",
    "TestTopics",
    "TestTraces",
    "TestTriggering",
    "TestUniques",
    "TestUnknownJobs",
    "TestWebhooks",
    "TestZombies",
    "Trial",
    "Worker",
    "access",
    "clock",
    "differences",
    "sorted_rows",
    "trial",
]
