"""Identify the caller: this machine while there is neither a key nor an issuer, else the holder of a credential.

Every invalid credential gets the same response after the same time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from duly.api.hosts import Hosts, is_from_loopback, is_local
from duly.api.http import Scope
from duly.api.problems import FORBIDDEN, MISDIRECTED, UNAUTHENTICATED
from duly.api.replies import Refused
from duly.app import Duly
from duly.app.owning import Owning
from duly.core import credential
from duly.core.credential import ANYBODY, PREFIX, Caller
from duly.core.errors import ConfigurationError
from duly.core.quota import NO_QUOTAS, Quotas

from .jwt import Issuer
from .rates import Rates

LOOK_EVERY = 1.0
"""Seconds between two looks whether the first key was made, while there is none."""

Who = Callable[[], Awaitable[Caller | None]]

STRANGERS = 300
"""Requests a minute that an address may send to what is open to anybody."""

LONGEST = 8192
MOST_VIEWS = 1000
_LOCAL_ONLY = (
    "no API key exists yet, so only this machine is served, and nothing that a proxy passes on; create a key with"
    " `duly key create --name admin --scopes admin`"
)
_NOT_OUR_NAME = (
    "no API key exists yet, so this server answers to localhost and loopback addresses only; create a key with"
    " `duly key create --name admin --scopes admin`"
)
_FIRST_KEY = "the first API key is created on the machine of the server: `duly key create --name admin --scopes admin`"
_NOT_KNOWN = "this server asks for a credential: send 'Authorization: Bearer' with a key or token that is good"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a server asks of its callers. ``per_address`` is how many requests a minute an address may send.

    With ``require_if_match`` a schedule that is there is changed only by who says which revision they mean.
    """

    issuer: Issuer | None = None
    quotas: Quotas = NO_QUOTAS
    per_address: int | None = None
    require_if_match: bool = False


class LocalOnly(Refused):
    """Refused because no key exists yet: logging in would not help."""


class Guard:
    """Knows the callers of one app, and shows each of them the app as they may see it.

    While there is neither a key nor an issuer, only requests from this machine are served: from a loopback address,
    under a name of ``hosts`` (``localhost`` and loopback addresses by default), without a forwarding header.
    ``open=True`` serves everybody until then; the first key is created on this machine all the same.
    """

    def __init__(
        self, app: Duly, policy: Policy | None = None, *, open: bool = False, hosts: Hosts | None = None
    ) -> None:
        self._app = app
        self.open = open
        self.hosts = hosts or Hosts()
        self.policy = policy or Policy()
        self._closed = self.policy.issuer is not None
        self._looked_at = float("-inf")
        self._callers = Rates(app.clock.steady, "this credential")
        self._addresses = Rates(app.clock.steady, "this address")
        self._strangers = Rates(app.clock.steady, "this address")
        self._views: OrderedDict[Owning, Duly] = OrderedDict()

    async def caller(self, scope: Scope, needed: credential.Scope | None) -> Caller:
        """Who sent a request; refuses one without a good credential, one that it does not allow, and one too many."""
        return await self.admit(scope, needed, lambda: self._known(_bearer(scope)))

    async def admit(self, scope: Scope, needed: credential.Scope | None, who: Who) -> Caller:
        """The same for a caller whom ``who`` knows by other signs than a header; None is nobody."""
        caller = await self._caller(scope, who)
        if not caller.may(needed):
            detail = f"this needs the scope {needed or 'of nobody'}, which the credential does not have"
            raise Refused(FORBIDDEN, "FORBIDDEN", detail)
        return caller

    def check_first_key(self, scope: Scope, caller: Caller) -> None:
        """Refuse the first key to a caller from elsewhere, also on a server that is open to all."""
        if caller is ANYBODY and not is_local(scope, self.hosts):
            raise LocalOnly(FORBIDDEN, "FORBIDDEN", _FIRST_KEY)

    def stranger(self, scope: Scope) -> Caller:
        """Somebody who calls what is open to anybody; not too often, so that no secret is found by trying."""
        address = (scope.get("client") or ("",))[0]
        self._strangers.take(address, min(self.policy.per_address or STRANGERS, STRANGERS))
        return ANYBODY

    async def _caller(self, scope: Scope, who: Who) -> Caller:
        if self.policy.per_address is not None:
            self._addresses.take((scope.get("client") or ("",))[0], self.policy.per_address)
        if await self.check_local(scope):
            return ANYBODY
        caller = await who()
        if caller is None:
            raise Refused(UNAUTHENTICATED, "NOT_AUTHORISED", _NOT_KNOWN)
        caller = replace(caller, quotas=caller.quotas.over(self.policy.quotas))
        per_minute = caller.quotas.requests_per_minute
        if per_minute is not None:
            self._callers.take(caller.key_id or f"{caller.tenant}\n{caller.owner}", per_minute)
        return caller

    async def check_local(self, scope: Scope) -> bool:
        """Return whether callers need no credential; refuse those from elsewhere as long as they need none."""
        if not await self.is_open():
            return False
        if self.open or is_local(scope, self.hosts):
            return True
        if is_from_loopback(scope) and self.hosts.refuses_host(scope):
            raise LocalOnly(MISDIRECTED, "HOST_NOT_ALLOWED", _NOT_OUR_NAME)
        raise LocalOnly(UNAUTHENTICATED, "NOT_AUTHORISED", _LOCAL_ONLY)

    async def is_open(self) -> bool:
        """Whether callers need no credential. Once there was a key they always do."""
        now = self._app.clock.steady()
        if not self._closed and (self._app.keys.made_one or now - self._looked_at >= LOOK_EVERY):
            self._closed = await self._app.keys.any()
            self._looked_at = now
        return not self._closed

    def app_for(self, caller: Caller) -> Duly:
        """The app as they see it."""
        if caller.admin or caller.scopes == {credential.Scope.WORKER}:
            return self._app
        owning = Owning(caller.whose, caller.quotas)
        view = self._views.pop(owning, None) or self._app.acting_for(owning)
        self._views[owning] = view
        if len(self._views) > MOST_VIEWS:
            self._views.popitem(last=False)
        return view

    async def _known(self, token: str | None) -> Caller | None:
        issuer = self.policy.issuer
        if token is not None and issuer is not None and not token.startswith(PREFIX):
            return await issuer.caller(token)
        return await self._app.keys.caller(token or "")


def _bearer(scope: Scope) -> str | None:
    """The token of the one ``Authorization`` header; None for none, several, or another scheme."""
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    if len(given) != 1 or len(given[0]) > LONGEST:
        return None
    scheme, _, token = given[0].decode("latin-1").partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token.isascii() else None


def guard_of(app: Duly, hosts: Hosts | None, guard: Guard | None, *, open: bool) -> tuple[Hosts | None, Guard]:
    """Return the names and the guard of a mounted application; one that is open always checks names."""
    if guard is not None and open:
        raise ConfigurationError("guard and open were both given; expected one: pass open=True to the Guard instead")
    guard = guard or Guard(app, open=open, hosts=hosts)
    return hosts or (guard.hosts if guard.open else None), guard
