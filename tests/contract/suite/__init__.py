"""The contract that every store keeps, as tests that every store runs.

``tests/contract/conftest.py`` provides the fixtures: ``clock``, ``store`` on an empty database that takes its time from
that clock, ``trial``, and ``access`` for the tests that look behind the protocol: at the rows, at a second store on the
same database, at a transaction that is cut off (see ``Access``).
"""

from __future__ import annotations

from pkgutil import iter_modules

import pytest

pytest.register_assert_rewrite(*(f"{__name__}.{part.name}" for part in iter_modules(__path__)))

from tests.contract.suite.access import Access, Crash  # noqa: E402  # after the line that lets pytest explain asserts
from tests.contract.suite.answering import TestAnswers  # noqa: E402
from tests.contract.suite.auditing import TestAuditing  # noqa: E402
from tests.contract.suite.backfilling import TestBackfilling  # noqa: E402
from tests.contract.suite.bulk import TestBulk, TestOperations  # noqa: E402
from tests.contract.suite.calendars import TestCalendars, TestExcludedWindows  # noqa: E402
from tests.contract.suite.catching_up import TestCatchingUp  # noqa: E402
from tests.contract.suite.changes import TestAuditTrail  # noqa: E402
from tests.contract.suite.children import TestChildren  # noqa: E402
from tests.contract.suite.claiming import TestClaiming, TestEnqueueing  # noqa: E402
from tests.contract.suite.control import TestComing, TestLookingBack, TestNamed, TestPurgingSchedules  # noqa: E402
from tests.contract.suite.dead import (  # noqa: E402
    TestDeadLetters,
    TestOnDead,
    TestRedriving,
)
from tests.contract.suite.electing import TestElecting  # noqa: E402
from tests.contract.suite.events import TestEvents  # noqa: E402
from tests.contract.suite.executions import TestExecutions  # noqa: E402
from tests.contract.suite.firing import TestFiring, TestGrabbing  # noqa: E402
from tests.contract.suite.guarding import TestGuards  # noqa: E402
from tests.contract.suite.heirs import TestHeirs  # noqa: E402
from tests.contract.suite.keeping import TestExpiredPauses, TestPurging, TestUnknownJobs  # noqa: E402
from tests.contract.suite.keys import TestKeys  # noqa: E402
from tests.contract.suite.lanes import TestSingletons, TestUniques  # noqa: E402
from tests.contract.suite.listing import TestListingRuns, TestListingSchedules  # noqa: E402
from tests.contract.suite.on_event import TestGathering, TestOnEvent  # noqa: E402
from tests.contract.suite.order import TestFairShares, TestNewestFirst, TestQueuesFence, TestQueuesShare  # noqa: E402
from tests.contract.suite.overlap import TestOverlap, TestTriggering  # noqa: E402
from tests.contract.suite.owning import TestOwning, TestQuotas  # noqa: E402
from tests.contract.suite.positions import TestPositions  # noqa: E402
from tests.contract.suite.queues import (  # noqa: E402
    TestConcurrencyLimits,
    TestListingQueues,
    TestPausedQueues,
    TestRates,
)
from tests.contract.suite.redriving import TestRedrivingObeysOverlap  # noqa: E402
from tests.contract.suite.repeating import TestRepeating  # noqa: E402
from tests.contract.suite.repeating_asked import TestRepeatingWhatIsAsked  # noqa: E402
from tests.contract.suite.reporting import TestReporting  # noqa: E402
from tests.contract.suite.requests import TestRequests  # noqa: E402
from tests.contract.suite.schedules import TestChangingSchedules, TestPuttingSchedules  # noqa: E402
from tests.contract.suite.sessions import TestEndedInstances, TestLeases, TestSessions  # noqa: E402
from tests.contract.suite.settling import TestSettling, TestSettlingMovesSchedules  # noqa: E402
from tests.contract.suite.steps import TestRecording, TestSuspending  # noqa: E402
from tests.contract.suite.stopping import TestStoppingWhatIsDue  # noqa: E402
from tests.contract.suite.suspects import TestSuspects  # noqa: E402
from tests.contract.suite.switching import TestRestores, TestResumingAll, TestSwitch  # noqa: E402
from tests.contract.suite.tables import TABLES, Dump, differences, sorted_rows  # noqa: E402
from tests.contract.suite.topics import TestTopics  # noqa: E402
from tests.contract.suite.tracing import TestTraces  # noqa: E402
from tests.contract.suite.trial import Trial, Worker  # noqa: E402
from tests.contract.suite.webhooks import TestTellingWebhooks, TestWebhooks  # noqa: E402
from tests.contract.suite.zombies import TestZombies  # noqa: E402

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
    "TestEndedInstances",
    "TestEnqueueing",
    "TestEvents",
    "TestExcludedWindows",
    "TestExecutions",
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
    "differences",
    "sorted_rows",
]
