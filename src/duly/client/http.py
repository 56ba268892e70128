"""What both clients need of httpx2, which is imported only here and only when a client is made."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import msgspec

from duly.core.errors import ConfigurationError, ValidationFailed
from duly.core.version import VERSION

from .calls import NOTHING, Call, Failure, Reply

TIMEOUT = 30.0


def load_httpx() -> ModuleType:
    """The library, or what to install."""
    try:
        import httpx2
    except ImportError as error:
        raise ConfigurationError(
            f"talking to a server needs httpx2 ({error}); install it with: pip install 'duly[client]'"
        ) from error
    return httpx2


def settings_of(root: str, key: str | None, timeout: float, transport: Any) -> dict[str, Any]:
    """The arguments of an httpx2 client."""
    headers = {"User-Agent": f"duly/{VERSION}", "Accept": "application/json"}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    given = {} if transport is None else {"transport": transport}
    return {"base_url": root, "headers": headers, "timeout": timeout, "follow_redirects": False, **given}


def request_of(call: Call) -> dict[str, Any]:
    """The arguments of one request."""
    headers = dict(call.headers)
    content = None
    if call.body is not NOTHING:
        try:
            content = msgspec.json.encode(call.body)
        except UnicodeEncodeError as error:
            raise ValidationFailed(f"{error.object[:200]!r} cannot be sent; expected text") from error
        headers["Content-Type"] = "application/json"
    return {
        "method": call.method, "url": call.path, "params": dict(call.query), "content": content, "headers": headers
    }  # fmt: skip


def reply_of(response: Any) -> Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Reply(response.status_code, headers, response.content)


def failure_of(error: Exception, httpx: ModuleType) -> Failure:
    never_sent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout | httpx.ProxyError)
    reason = str(error) or type(error).__name__
    return Failure(f"{reason} ({type(error).__name__})" if str(error) else reason, sent=not never_sent)
