"""The policies of a schedule, as values that refuse to hold nonsense."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Literal, TypeVar

from .errors import RetryPolicyInvalid, ValidationFailed

Choice = TypeVar("Choice", bound=StrEnum)

MAX_ATTEMPTS = 100
MAX_DELAY = 3600


class Backoff(StrEnum):
    EXPONENTIAL = "exponential"
    FIXED = "fixed"


class Overlap(StrEnum):
    """What to do with a window while a run of the same schedule has not ended."""

    SKIP = "skip"
    QUEUE = "queue"
    CANCEL_PREVIOUS = "cancel_previous"
    ALLOW = "allow"


class Missed(StrEnum):
    """Which of the windows missed during an outage still fire."""

    LATEST = "latest"
    SKIP = "skip"
    ALL = "all"


def choose(kind: type[Choice], value: object, field: str) -> Choice:
    """Turn a word into one of the allowed ones, or say which are."""
    if type(value) is kind:
        return value
    try:
        return kind(str(value))
    except ValueError:
        allowed = " | ".join(kind)
        raise ValidationFailed(
            f"{field} is {value!r}; expected {allowed}", field=field, got=value, expected=allowed
        ) from None


LEFT_RETRY, LEFT_TIMEOUT = 1, 2
"""What nobody chose for a schedule or a run: there the job's own holds, which the worker knows that has the job."""


@dataclass(frozen=True, slots=True)
class Retry:
    """How often a run may be tried, and how long it waits in between (seconds).

    It waits at most ``max_delay``: an hour unless that is given, or the delay itself where that is longer.
    """

    max_attempts: int = 3
    backoff: Backoff | Literal["exponential", "fixed"] = Backoff.EXPONENTIAL
    delay: float = 5
    max_delay: float = None  # type: ignore[assignment]  # filled in below
    jitter: float = 0.2

    def __post_init__(self) -> None:
        if self.max_delay is None:
            object.__setattr__(self, "max_delay", self.delay if _is_long(self.delay) else MAX_DELAY)
        try:
            object.__setattr__(self, "backoff", Backoff(self.backoff))
        except ValueError:
            raise _bad_retry("backoff", self.backoff, "exponential | fixed") from None
        if type(self.max_attempts) is not int or not 1 <= self.max_attempts <= MAX_ATTEMPTS:
            raise _bad_retry("max_attempts", self.max_attempts, f"a whole number from 1 to {MAX_ATTEMPTS}")
        for field, low, high in (("delay", 0, 86_400), ("max_delay", 0, 86_400), ("jitter", 0, 1)):
            value = getattr(self, field)
            if type(value) not in (int, float) or not math.isfinite(value) or not low <= value <= high:
                raise _bad_retry(field, value, f"a number from {low} to {high}")


@dataclass(frozen=True, slots=True)
class CatchUp:
    """Which missed windows still fire: the policy, how late they may be (None: no limit), and how many at most."""

    policy: Missed | Literal["latest", "skip", "all"] = Missed.LATEST
    max_lateness: timedelta | None = None
    max_runs: int = 100

    def __post_init__(self) -> None:
        object.__setattr__(self, "policy", choose(Missed, self.policy, "catch_up"))
        if isinstance(self.max_lateness, int | float) and not isinstance(self.max_lateness, bool):
            with suppress(ValueError, OverflowError):  # NaN, and more than there is time: refused as it is
                object.__setattr__(self, "max_lateness", timedelta(seconds=self.max_lateness))
        late = self.max_lateness
        if late is not None and (not isinstance(late, timedelta) or late < timedelta(0)):
            raise ValidationFailed(
                f"catch_up max_lateness is {late!r}; expected seconds or a timedelta, 0 or more, or None for no limit",
                field="catch_up.max_lateness",
                got=late,
                expected="0 or more, or None",
            )
        if type(self.max_runs) is not int or not 1 <= self.max_runs <= 10_000:
            raise ValidationFailed(
                f"catch_up max_runs is {self.max_runs!r}; expected a whole number from 1 to 10000",
                field="catch_up.max_runs",
                got=self.max_runs,
                expected="1-10000",
            )

    @property
    def max_lateness_ms(self) -> int | None:
        late = self.max_lateness
        if late is None:
            return None
        # Three numbers, which are added several times as fast as divided.
        return late.days * 86_400_000 + late.seconds * 1000 + late.microseconds // 1000


def _is_long(delay: object) -> bool:
    return isinstance(delay, int | float) and delay > MAX_DELAY


def _bad_retry(field: str, got: object, expected: str) -> RetryPolicyInvalid:
    return RetryPolicyInvalid(f"retry {field} is {got!r}; expected {expected}", field=field, got=got, expected=expected)
