"""Secrets as they may be shown."""

from __future__ import annotations

import re
from typing import Any

from .options import Option

MASK = "***"
_PASSWORD = re.compile(r"(?<=://)([^/?#@]*?):[^/?#]*@")
_SECRET_PARAMETER = re.compile(r"(?i)([?&](?:password|passwd|sslpassword|secret|token|key)=)[^&#]*")


def mask_url(url: str) -> str:
    """A URL without its password."""
    return _SECRET_PARAMETER.sub(rf"\1{MASK}", _PASSWORD.sub(rf"\1:{MASK}@", url))


def mask(option: Option, value: Any) -> Any:
    """A value as it may be printed: a secret URL keeps all but its password, another secret nothing."""
    if not option.secret or not value:  # what is not there is no secret, and a mask would say that it is
        return value
    return mask_url(str(value)) if option.name.endswith("url") else MASK
