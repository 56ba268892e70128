"""``on_dead``: which job is told when a run of a job dies."""

from __future__ import annotations

from duly.config import Settings
from duly.core.dead import OnDead
from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.schedule import DEFAULT_QUEUE, DEFAULT_TIMEOUT_MS
from duly.engine.registry import Handler, Registry

_SAMPLE = (
    '{"dead":{"run_id":"","job":"","reason":"","error":"","attempts":1,"died_at":"2026-01-05T00:00:00Z",'
    '"scheduled_at":"2026-01-05T00:00:00Z","schedule_id":null,"schedule_key":null,"payload":null}}'
)


def check_on_dead(handler: Handler) -> None:
    """Refuse a handler that could not be called with what it is to be told."""
    try:
        handler.arguments.check(_SAMPLE)
    except ValidationFailed as error:
        raise ConfigurationError(
            f"job {handler.name!r} is told of dead runs but cannot take a dead letter ({error}); its one parameter"
            " beside the context is `dead: duly.DeadLetter`"
        ) from None


def whom_to_tell(registry: Registry, of_app: str | None, settings: Settings) -> list[OnDead]:
    """For each registered job whose deaths are told, the job that is told: its own, else the app's."""
    wanted = {handler.name: handler.on_dead or of_app for handler in registry}
    told = {name for name in wanted.values() if name is not None}
    for name in sorted(told):
        handler = registry.get(name)
        if handler is not None:
            check_on_dead(handler)
    return [
        _on_dead(job, name, registry.get(name), settings)
        for job, name in wanted.items()
        if name is not None and job not in told
    ]


def _on_dead(job: str, name: str, handler: Handler | None, settings: Settings) -> OnDead:
    return OnDead(
        job=job,
        handler=name,
        queue=DEFAULT_QUEUE,
        max_attempts=handler.retry.max_attempts if handler and handler.retry else settings.default_max_attempts,
        timeout_ms=handler.timeout_ms if handler and handler.has_timeout else DEFAULT_TIMEOUT_MS,
    )
