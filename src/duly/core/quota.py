"""How much one owner may have and ask for. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from .errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class Quotas:
    """Bounds for one owner; None is no bound beyond those that hold for everybody.

    ``schedules`` counts those that have not ended. ``min_interval_ms`` and ``payload_bytes`` only ever narrow what the
    server allows.
    """

    schedules: int | None = None
    min_interval_ms: int | None = None
    payload_bytes: int | None = None
    requests_per_minute: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**53):
                raise ConfigurationError(f"quota {field.name} is {value!r}; expected a whole number above 0, or none")

    def over(self, others: Quotas) -> Quotas:
        """These, and where nothing is said here the others."""
        said = {field.name: value for field in fields(self) if (value := getattr(self, field.name)) is not None}
        return replace(others, **said)


NO_QUOTAS = Quotas()


class Allowance(int):
    """A limit that is the owner's own, and not one that holds for everybody."""
