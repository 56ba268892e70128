"""Who looks: a cookie that names an API key until an instant, signed, so that nobody can write one.

The key itself is not in it, and nothing is kept of it here: each request looks the key up, so one that is revoked ends
its sessions at once. Instances that are to know each other's sessions need the same secret.
"""

from __future__ import annotations

import hmac
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import Any

from duly.api.auth.guard import Guard
from duly.api.http import Scope as AsgiScope
from duly.app import Duly
from duly.core import credential
from duly.core.credential import ANYBODY, Caller
from duly.runtime.chance import Chance

SESSION, SAID, THEME = "duly_session", "duly_said", "duly_theme"
LASTS = 12 * 3600
"""Seconds that a session lasts."""

SAID_FOR = 60
MOST_ENDED = 10_000
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Session:
    """One login: the id of the key, when it ends in epoch seconds, and a number of its own."""

    key_id: str
    ends_at: int
    number: str


class Sessions:
    """Begins, knows and ends the sessions of one dashboard."""

    def __init__(self, app: Duly, guard: Guard, secret: str | None = None) -> None:
        self._app = app
        self._guard = guard
        self._chance = Chance()
        self._secret = self._chance.entropy(SECRET_BYTES) if secret is None else secret.encode()
        self._ended: OrderedDict[str, None] = OrderedDict()

    async def caller(self, scope: AsgiScope, needed: credential.Scope) -> Caller:
        """Who asks for a page; refuses as the API does."""

        async def who() -> Caller | None:
            session = self.of(scope)
            return None if session is None else await self._app.keys.holder(session.key_id)

        return await self._guard.admit(scope, needed, who)

    async def begin(self, scope: AsgiScope, key: str) -> str | None:
        """The cookie of a new session for whoever has this key; None if it is not good."""

        async def who() -> Caller | None:
            return await self._app.keys.caller(key)

        caller = await self._guard.admit(scope, credential.Scope.READ, who)
        if caller is ANYBODY or caller.key_id is None:
            return None
        ends_at = self._app.clock.now() // 1000 + LASTS
        text = f"{caller.key_id}.{ends_at}.{self._chance.entropy(9).hex()}"
        return self._cookie(scope, SESSION, f"{text}.{self._sign('session', text)}", LASTS)

    def end(self, scope: AsgiScope) -> str:
        """Forget the session; the cookie that takes its own away."""
        session = self.of(scope)
        if session is not None:
            self._ended[session.number] = None
            if len(self._ended) > MOST_ENDED:
                self._ended.popitem(last=False)
        return self._cookie(scope, SESSION, "", 0)

    def of(self, scope: AsgiScope) -> Session | None:
        """The session that a request has, if it is one of ours and not over."""
        text, _, signature = cookies_of(scope).get(SESSION, "").rpartition(".")
        parts = text.split(".")
        if len(parts) != 3 or not self._signed("session", text, signature):
            return None
        session = Session(parts[0], int(parts[1]), parts[2])
        over = session.ends_at <= self._app.clock.now() // 1000 or session.number in self._ended
        return None if over else session

    def token(self, scope: AsgiScope) -> str:
        """What a form of this session has to send along; another site's page cannot know it."""
        session = self.of(scope)
        return self._sign("form", "" if session is None else session.number)

    def is_token(self, scope: AsgiScope, given: str) -> bool:
        return hmac.compare_digest(self.token(scope).encode(), given.encode())

    def say(self, scope: AsgiScope, text: str, *, wrong: bool = False) -> str:
        """The cookie by which the next page says something."""
        body = urlsafe_b64encode(json.dumps([text[:1000], wrong]).encode()).decode().rstrip("=")
        return self._cookie(scope, SAID, f"{body}.{self._sign('said', body)}", SAID_FOR)

    def said(self, scope: AsgiScope) -> dict[str, Any] | None:
        """What is to be said on this page."""
        body, _, signature = cookies_of(scope).get(SAID, "").rpartition(".")
        if not body or not self._signed("said", body, signature):
            return None
        text, wrong = json.loads(urlsafe_b64decode(body + "=" * (-len(body) % 4)))
        return {"text": text, "wrong": wrong}

    def unsay(self, scope: AsgiScope) -> str:
        return self._cookie(scope, SAID, "", 0)

    def _sign(self, use: str, text: str) -> str:
        return hmac.new(self._secret, f"{use}\n{text}".encode(), sha256).hexdigest()

    def _signed(self, use: str, text: str, signature: str) -> bool:
        return hmac.compare_digest(self._sign(use, text).encode(), signature.encode())

    def _cookie(self, scope: AsgiScope, name: str, value: str, lasts: int) -> str:
        path = scope.get("root_path", "") + "/"
        safe = "; Secure" if _is_https(scope) else ""
        return f"{name}={value}; Path={path}; Max-Age={lasts}; HttpOnly; SameSite=Strict{safe}"


def cookies_of(scope: AsgiScope) -> dict[str, str]:
    """The cookies of a request; what is no cookie is left out."""
    jar: SimpleCookie = SimpleCookie()
    for name, value in scope["headers"]:
        if name == b"cookie":
            try:
                jar.load(value.decode("latin-1"))
            except CookieError:
                continue
    return {name: morsel.value for name, morsel in jar.items()}


def _is_https(scope: AsgiScope) -> bool:
    """Whether the browser speaks TLS, with us or with the proxy before us; only makes a cookie stricter."""
    return scope.get("scheme") == "https" or (b"x-forwarded-proto", b"https") in scope["headers"]
