"""docs/settings.md: every option is there once, with its variable and its default."""

import re
from pathlib import Path
from typing import Any

from duly.config.options import OPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def shown(default: Any) -> str:
    """A default as the page writes it."""
    if default is None or default in ("", ()):
        return "none"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, tuple):
        return f"`{','.join(default)}`"
    return f"`{default:g}`" if isinstance(default, float) and default < 1e6 else f"`{str(default).removesuffix('.0')}`"


def test_every_setting_is_on_the_page_as_it_is() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `(\w+)` \| ([^|]+) \| [^|]+ \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    expected = {(option.shown, option.variables[0], shown(option.default)) for option in OPTIONS.values()}
    assert len(rows) == len(expected)
    assert set(rows) == expected
