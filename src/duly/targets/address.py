"""The URL of a target, taken apart: where the server is, and the words behind the question mark."""

from __future__ import annotations

import ssl
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit, urlunsplit

from duly.core.errors import ConfigurationError

TLS_WORDS = frozenset({"cafile", "certfile", "keyfile"})
"""Files of certificates: whom to trust instead of the machine's list, and who we are."""


@dataclass(frozen=True, slots=True)
class Address:
    """``server`` is the URL that the driver is given; ``words`` are those that the target understands itself."""

    name: str
    server: str
    words: Mapping[str, str]

    def word(self, word: str, default: str = "") -> str:
        """What the URL says of a word; an empty one is as good as none."""
        return self.words.get(word) or default

    def choice(self, word: str, choices: Collection[str], default: str) -> str:
        """What the URL says of a word that may say only a few things."""
        given = self.word(word, default)
        if given not in choices:
            raise ConfigurationError(
                f"target {self.name!r}: {word} is {given!r}; expected one of {', '.join(sorted(choices))}"
            )
        return given

    def trust(self, *schemes: str) -> ssl.SSLContext | None:
        """How TLS is spoken, where the URL has one of the schemes that ask for it; None elsewhere."""
        if urlsplit(self.server).scheme not in schemes:
            if given := sorted(TLS_WORDS & self.words.keys()):
                raise ConfigurationError(f"target {self.name!r}: {given[0]} is for {' and '.join(schemes)}:// only")
            return None
        try:
            context = ssl.create_default_context(cafile=self.word("cafile") or None)
            if self.word("certfile"):
                context.load_cert_chain(self.word("certfile"), self.word("keyfile") or None)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(f"target {self.name!r}: a file of certificates cannot be read: {error}") from None
        return context

    def count(self, word: str) -> int | None:
        """What the URL says of a word that is a whole number, 1 or more."""
        given = self.words.get(word)
        if given is None:
            return None
        if not given.isdecimal() or not 1 <= int(given) < 2**31:
            raise ConfigurationError(f"target {self.name!r}: {word} is {given!r}; expected a whole number, 1 or more")
        return int(given)

    def tell(self, error: BaseException) -> str:
        """What a driver's error says, in words that do not show the URL's password."""
        words = str(error) or type(error).__name__
        password = urlsplit(self.server).password
        for secret in {password, unquote(password)} if password else ():
            words = words.replace(secret, "***")
        return words


def read_address(name: str, url: str, ours: Collection[str], drivers: Collection[str] = ()) -> Address:
    """Take a URL apart. ``drivers`` are words that are left in it for the driver; any other word is a mistake."""
    parts = urlsplit(url)
    words = dict(parse_qsl(parts.query, keep_blank_values=True))
    known = {*ours, *drivers}
    if unknown := sorted(set(words) - known):
        raise ConfigurationError(
            f"target {name!r}: the url has {unknown[0]!r}, which is not known;"
            f" expected {', '.join(sorted(known)) or 'no words'}"
        )
    left = urlencode({word: value for word, value in words.items() if word in drivers})
    server = urlunsplit(parts._replace(query=left))
    return Address(name, server, {word: value for word, value in words.items() if word in ours})
