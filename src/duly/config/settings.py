"""Settings: how one instance behaves. Built once, passed down, never changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta

from duly.core.addresses import read_allowed
from duly.core.errors import ConfigurationError
from duly.core.policy import CatchUp, Missed
from duly.core.rules.firing import FireRules
from duly.core.run import ENDS, RunStatus
from duly.core.sealed import EXPECTED, read_keys

ELECTIONS = ("none", "database", "redis")
WORDS = frozenset(
    {
        "catchup_default",
        "public_url",
        "strict_ids",
        "election",
        "election_url",
        "webhook_allow",
        "webhook_errors",
        "show_stacks",
        "payload_keys",
        "tracing",
    }
)
"""Settings that are no numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How one instance behaves. Durations in seconds.

    ``concurrency`` bounds the async handlers that run at once, ``threads`` those in threads and processes. Twice a
    ``fire_batch`` of them lets a burst be fired, run and settled in large batches, which costs a quarter less.
    A run interrupted by shutdowns or outages more than ``max_interruptions`` times ends failed (None: never).
    ``catchup_default`` is the catch-up policy of schedules that name none. ``catchup_max_lateness`` bounds how late a
    missed window fires if its schedule sets no limit (None: no bound). ``strict_ids`` asks for UUIDs of version 7
    in their metadata. Ended runs are kept for ``retention``, or for that of their own status; 0 keeps them for ever.
    With a ``retention_count`` at most that number of runs of a status are kept, the newest, whatever their age. A
    schedule counts as not fired when its window is ``audit_late`` past its time. After a start that finds a backlog,
    ``concurrency`` is reached within ``ramp_up``. So many ``resident_workflows`` that wait are kept in memory and go on
    without a replay; one may record ``history_steps`` with ``history_bytes``, and is warned of before. Webhooks that
    workflows wait for are at ``public_url``, where the API is seen from outside. With ``election`` one instance fires
    and the others stand by: chosen in the ``database``, or by the ``redis`` at ``election_url``. Webhooks go to public
    hosts over https alone, and to the hosts and networks in ``webhook_allow``, wherever they are; what errors say goes
    with them only with ``webhook_errors``, as it may be nothing for others.
    Callers with an owner see the stacks of errors only with ``show_stacks``. ``tracing`` makes spans for OpenTelemetry.
    With ``payload_keys`` what people store is encrypted: by the first of them, and read with any.
    """

    lease: float = 15.0
    heartbeat: float = 5.0
    poll: float = 1.0
    concurrency: int = 1000
    threads: int = 32
    shutdown_timeout: float = 30.0
    fire_batch: int = 500
    catch_up_grace: float = 10.0
    cancel_grace: float = 10.0
    default_max_attempts: int = 3
    max_interruptions: int | None = None
    catchup_default: str = "latest"
    catchup_max_lateness: float | None = None
    strict_ids: bool = False
    min_interval_ms: int = 1000
    payload_limit: int = 256 * 1024
    result_limit: int = 256 * 1024
    retention: float = 30 * 86_400.0
    retention_completed: float | None = None
    retention_failed: float | None = None
    retention_cancelled: float | None = None
    retention_skipped: float | None = None
    retention_count_completed: int | None = None
    retention_count_failed: int | None = None
    retention_count_cancelled: int | None = None
    retention_count_skipped: int | None = None
    jump_limit: float = 5.0
    audit_late: float = 60.0
    ramp_up: float = 5.0
    resident_workflows: int = 1000
    history_steps: int = 10_000
    history_bytes: int = 64 * 1024 * 1024
    public_url: str = ""
    election: str = "none"
    election_url: str | None = None
    webhook_allow: tuple[str, ...] = ()
    webhook_errors: bool = False
    show_stacks: bool = False
    payload_keys: tuple[str, ...] = field(default=(), repr=False)
    tracing: bool = False

    def __post_init__(self) -> None:
        if self.catchup_default not in tuple(Missed):
            raise ConfigurationError(
                f"setting catchup_default is {self.catchup_default!r}; expected {' | '.join(Missed)}"
            )
        if self.election not in ELECTIONS:
            raise ConfigurationError(f"setting election is {self.election!r}; expected {' | '.join(ELECTIONS)}")
        if self.election == "redis" and not str(self.election_url).startswith(("redis://", "rediss://", "unix://")):
            raise ConfigurationError(
                "setting election is 'redis', and election_url does not say where Redis is; expected a URL such as"
                " redis://localhost:6379/0"
            )
        try:
            read_allowed(self.webhook_allow)
        except (ValueError, TypeError, AttributeError) as error:
            raise ConfigurationError(
                f"setting webhook_allow has {str(error)[:60]!r}; expected hosts and networks such as hooks.internal,"
                " *.corp.example or 10.1.0.0/16"
            ) from None
        try:
            read_keys(self.payload_keys)
        except (ValueError, TypeError, AttributeError) as error:
            why = str(error) if type(error) is ValueError else "it is no list of texts"
            raise ConfigurationError(f"setting payload_keys cannot be used: {why}; expected {EXPECTED}") from None
        if self.public_url and not str(self.public_url).startswith(("https://", "http://")):
            raise ConfigurationError(
                f"setting public_url is {self.public_url!r}; expected a URL such as https://duly.example.com"
            )
        for name in ("strict_ids", "webhook_errors", "show_stacks", "tracing"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"setting {name} is {getattr(self, name)!r}; expected True or False")
        for own in fields(self):
            value = getattr(self, own.name)
            if own.name in WORDS or (value is None and own.default is None):
                continue
            if not isinstance(value, int | float) or isinstance(value, bool) or value < 0:
                raise ConfigurationError(f"setting {own.name} is {value!r}; expected a number, 0 or more")
        for status, count in self.retention_counts.items():
            if type(count) is not int:
                raise ConfigurationError(
                    f"setting retention_count_{status.value} is {count!r}; expected a whole number of runs, 0 or more"
                )
        if self.concurrency < 1 or self.fire_batch < 1 or self.poll <= 0:
            raise ConfigurationError("settings concurrency and fire_batch must be 1 or more, and poll above 0")
        if self.heartbeat * 3 > self.lease * (1 + 1e-9):  # a third, whatever the floats make of it
            raise ConfigurationError(
                f"setting heartbeat is {self.heartbeat} s with a lease of {self.lease} s; expected at most a third of"
                " the lease, so that one lost heartbeat does not lose the lease"
            )

    @property
    def lease_ms(self) -> int:
        return round(self.lease * 1000)

    @property
    def default_catch_up(self) -> CatchUp:
        """The catch-up policy of schedules that name none."""
        late = None if self.catchup_max_lateness is None else timedelta(seconds=self.catchup_max_lateness)
        return CatchUp(Missed(self.catchup_default), late)

    @property
    def retentions(self) -> Mapping[float, Sequence[RunStatus]]:
        """How long runs are kept after their end, in seconds, with the statuses that it holds for."""
        found: dict[float, list[RunStatus]] = {}
        for status in ENDS:
            own = getattr(self, f"retention_{status.value}")
            found.setdefault(self.retention if own is None else own, []).append(status)
        return found

    @property
    def retention_counts(self) -> Mapping[RunStatus, int]:
        """How many ended runs are kept at most, of the statuses that have a limit."""
        counts = {status: getattr(self, f"retention_count_{status.value}") for status in ENDS}
        return {status: count for status, count in counts.items() if count is not None}

    @property
    def fire_rules(self) -> FireRules:
        return FireRules(
            grace_ms=round(self.catch_up_grace * 1000),
            cancel_grace_ms=round(self.cancel_grace * 1000),
            default_max_attempts=self.default_max_attempts,
            max_interruptions=self.max_interruptions,
        )
