"""What is written on what can be read: WCAG AA for every pair of colours that the style sheet uses."""

import re
from importlib.resources import files

import pytest

from tests.counting import at_least

STYLE = (files("duly.dashboard") / "static" / "style.css").read_text()
COLOURS = {
    name: (light, dark)
    for name, light, dark in re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", STYLE)
}
GROUNDS = ("ground", "paper", "raised")
TEXT = [
    *[(ink, ground) for ink in ("ink", "ink-soft", "accent", "ok", "bad", "warn", "busy") for ground in GROUNDS],
    *[(state, f"{state}-soft") for state in ("ok", "bad", "warn", "busy", "idle", "accent")],
    ("accent-ink", "accent"),
    ("paper", "bad"),
    ("ink-soft", "idle-soft"),
    ("ink", "idle-soft"),
]
SHAPES = [(shape, ground) for shape in ("line-strong", "focus", "ok", "bad", "idle") for ground in GROUNDS]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("pairs, least", [(TEXT, 4.5), (SHAPES, 3.0)], ids=["text", "shapes"])
def test_every_pair_can_be_told_apart(pairs: list[tuple[str, str]], least: float, dark: bool) -> None:
    found = {pair: contrast(COLOURS[pair[0]][dark], COLOURS[pair[1]][dark]) for pair in pairs}

    assert {pair: round(ratio, 2) for pair, ratio in found.items() if ratio < least} == {}


def test_no_colour_is_written_outside_of_the_tokens() -> None:
    rules = at_least(STYLE.partition("* { box-sizing")[2], 14000, "characters of rules")

    assert re.findall(r"#[0-9a-f]{3,8}\b|rgba?\(|hsl", rules) == []


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
