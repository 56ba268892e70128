"""duly: a durable, distributed job scheduler. Every window fires exactly once, on time, whatever crashes.

The names are imported when they are first asked for, so that a part of duly costs no more than itself: ``duly cron``
answers before an event loop would be loaded.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from duly.core.version import VERSION

if TYPE_CHECKING:
    from duly.app import Duly, Jobs
    from duly.app.remote_worker import RemoteWorker
    from duly.client.verifying import verify_webhook
    from duly.config import Settings
    from duly.core.dead import AttemptRecord, DeadLetter
    from duly.core.errors import (
        DulyError,
        Fatal,
        GatherFailed,
        NonDeterminismError,
        SignalTimeout,
        StepFailed,
        WaitTimeout,
    )
    from duly.core.event import Event
    from duly.core.on_event import OnEvent, Published
    from duly.core.policy import CatchUp, Retry
    from duly.core.run import Run, RunStatus
    from duly.core.schedule import Schedule, ScheduleStatus
    from duly.core.timing import Cron, Every, Jitter, Once, explain
    from duly.core.topics import ScheduleArrived
    from duly.engine.context import RunContext
    from duly.engine.outcomes import Snooze
    from duly.workflow.context import WorkflowContext
    from duly.workflow.doing import StepContext, current_step

__all__ = [
    "AttemptRecord",
    "CatchUp",
    "Cron",
    "DeadLetter",
    "Duly",
    "DulyError",
    "Event",
    "Every",
    "Fatal",
    "GatherFailed",
    "Jitter",
    "Jobs",
    "NonDeterminismError",
    "OnEvent",
    "Once",
    "Published",
    "RemoteWorker",
    "Retry",
    "Run",
    "RunContext",
    "RunStatus",
    "Schedule",
    "ScheduleArrived",
    "ScheduleStatus",
    "Settings",
    "SignalTimeout",
    "Snooze",
    "StepContext",
    "StepFailed",
    "WaitTimeout",
    "WorkflowContext",
    "__version__",
    "current_step",
    "explain",
    "verify_webhook",
]

__version__ = VERSION

_HOMES = {
    "duly.app": ("Duly", "Jobs"),
    "duly.app.remote_worker": ("RemoteWorker",),
    "duly.client.verifying": ("verify_webhook",),
    "duly.config": ("Settings",),
    "duly.core.dead": ("AttemptRecord", "DeadLetter"),
    "duly.core.errors": (
        "DulyError",
        "Fatal",
        "GatherFailed",
        "NonDeterminismError",
        "SignalTimeout",
        "StepFailed",
        "WaitTimeout",
    ),
    "duly.core.event": ("Event",),
    "duly.core.on_event": ("OnEvent", "Published"),
    "duly.core.policy": ("CatchUp", "Retry"),
    "duly.core.run": ("Run", "RunStatus"),
    "duly.core.schedule": ("Schedule", "ScheduleStatus"),
    "duly.core.topics": ("ScheduleArrived",),
    "duly.core.timing": ("Cron", "Every", "Jitter", "Once", "explain"),
    "duly.engine.context": ("RunContext",),
    "duly.engine.outcomes": ("Snooze",),
    "duly.workflow.context": ("WorkflowContext",),
    "duly.workflow.doing": ("StepContext", "current_step"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'duly' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME_OF})
