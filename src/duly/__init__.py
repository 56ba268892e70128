"""duly: a durable, distributed job scheduler. Every window fires exactly once, on time, whatever crashes."""

from duly.app import Duly
from duly.config import Settings
from duly.core.errors import DulyError, Fatal, WaitTimeout
from duly.core.policy import CatchUp, Retry
from duly.core.run import Run, RunStatus
from duly.core.schedule import Schedule, ScheduleStatus
from duly.core.timing import Cron, Every, Jitter, Once, explain
from duly.core.version import VERSION
from duly.engine.context import RunContext
from duly.engine.outcomes import Snooze

__all__ = [
    "CatchUp",
    "Cron",
    "Duly",
    "DulyError",
    "Every",
    "Fatal",
    "Jitter",
    "Once",
    "Retry",
    "Run",
    "RunContext",
    "RunStatus",
    "Schedule",
    "ScheduleStatus",
    "Settings",
    "Snooze",
    "WaitTimeout",
    "__version__",
    "explain",
]

__version__ = VERSION
