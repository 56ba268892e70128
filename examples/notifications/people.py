"""Who asks: a bearer token belongs to one person."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest

from fastapi import HTTPException, Request


@dataclass(frozen=True)
class Person:
    id: str
    email: str


class People:
    """Finds a person by token. A real product asks its identity provider here."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        self._known = [(sha256(token.encode()).digest(), Person(email, email)) for token, email in tokens.items()]

    @classmethod
    def from_environment(cls) -> "People":
        """``NOTIFICATIONS_TOKENS`` is ``token=email``, joined by commas."""
        pairs = [pair.split("=", 1) for pair in os.environ.get("NOTIFICATIONS_TOKENS", "").split(",") if "=" in pair]
        return cls({token.strip(): email.strip() for token, email in pairs})

    def who(self, request: Request) -> Person:
        """The person whose token came with a request; 401 for nobody's."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        given = sha256(token.strip().encode()).digest()
        found = [person for digest, person in self._known if compare_digest(digest, given)]
        if scheme.lower() != "bearer" or not found:
            raise HTTPException(401, "a bearer token is needed", {"WWW-Authenticate": "Bearer"})
        return found[0]
