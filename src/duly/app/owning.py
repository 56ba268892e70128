"""In whose name an app acts: what they make is theirs, and within what they may have.

An app that is used from Python acts for nobody in particular: the caller authorises.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any

from duly.config import Settings
from duly.core.credential import Whose
from duly.core.errors import Forbidden, QuotaExceeded, ValidationFailed
from duly.core.ids import RESERVED_PREFIXES, chosen_run_id, is_name
from duly.core.instants import to_datetime
from duly.core.quota import NO_QUOTAS, Allowance, Quotas
from duly.core.timing import Cron, Every, Timing
from duly.core.timing.refusal import shortened
from duly.runtime.clock import Clock

from .filtering import check_filters

LOOKED_AT = 50
"""Windows of a cron expression that are looked at to see how close they come."""


@dataclass(frozen=True, slots=True)
class Owning:
    """Whose name it is, and their quotas; None is nobody's."""

    whose: Whose | None = None
    quotas: Quotas = NO_QUOTAS

    def claim(self, facts: dict[str, Any], *, only_given: bool = False) -> None:
        """Make what is new theirs; refuse the name of somebody else."""
        if self.whose is None:
            return
        for name, mine in (("owner", self.whose.owner), ("tenant", self.whose.tenant)):
            if only_given and name not in facts:
                continue
            self._check(f"metadata.{name}_id", facts.get(name), mine)
            facts[name] = mine

    def tenant(self, given: str) -> str:
        """The tenant that is meant: their own, unless the caller may name any."""
        if self.whose is None:
            return given
        self._check("tenant", given, self.whose.tenant)
        return self.whose.tenant

    def where(self, given: str | None) -> str | None:
        """The tenant to look in: None is any that they see; no tenant is, for them, their own."""
        check_filters(tenant=given)
        return self.whose.tenant if given == "" and self.whose is not None else given

    def space(self, tenant: str) -> str:
        """Where names of their own choice mean what they mean."""
        return tenant if self.whose is None else f"{self.whose.tenant}\n{self.whose.owner}"

    def run_id(self, id: str, tenant: str = "") -> str:
        """Return the run id for an id that a caller chose; raise if it is not valid, or names a window or an event."""
        if not isinstance(id, str) or not is_name(id):
            raise ValidationFailed(
                f"id is {shortened(id)}; expected 1 to 200 printable characters",
                field="id",
                path="id",
                got=id,
                expected="1 to 200 printable characters",
            )
        if id.startswith(RESERVED_PREFIXES):
            raise ValidationFailed(
                f"id is {shortened(id)}; names that begin with 'sched:' or 'evt:' belong to windows and events; choose"
                " another id",
                field="id",
                path="id",
                got=id,
                expected="a name that does not begin with 'sched:' or 'evt:'",
            )
        return chosen_run_id(self.space(tenant), id, raw=self.whose is None)

    @property
    def owner(self) -> str | None:
        return None if self.whose is None else self.whose.owner

    def check_timing(self, timing: Timing, clock: Clock) -> None:
        """Refuse windows that come closer to each other than their quota lets them."""
        least = self.quotas.min_interval_ms
        if least is None:
            return
        closest = _closest(timing, clock.now())
        if closest is not None and closest < least:
            raise QuotaExceeded(
                f"timing fires every {closest} ms; the quota is one in {least} ms: fire less often, or ask for more"
            )

    def bounded(self, settings: Settings) -> Settings:
        """The settings as they hold for them."""
        most = self.quotas.payload_bytes
        if most is None or most >= settings.payload_limit:
            return settings
        return replace(settings, payload_limit=Allowance(most))

    def _check(self, field: str, given: str | None, mine: str) -> None:
        if given and given != mine:
            raise Forbidden(f"{field} is {given[:60]!r}; this credential acts for {mine!r} only: leave it out")


ANYBODYS = Owning()


def _closest(timing: Timing, now: int) -> int | None:
    """The shortest time between two windows, in ms; of a cron expression among the next ones."""
    if isinstance(timing, Every):
        return timing.every_ms
    if not isinstance(timing, Cron):
        return None
    windows = []
    at = to_datetime(now)
    for _ in range(LOOKED_AT):
        found = timing.next_after(at)
        if found is None:
            break
        windows.append(found)
        at = found
    gaps = (round((b - a).total_seconds() * 1000) for a, b in pairwise(islice(windows, LOOKED_AT)))
    return min(gaps, default=None)
