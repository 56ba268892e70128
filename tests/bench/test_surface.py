"""The benchmark of the REST API measures every kind of request, and each gets the response that it is meant to get."""

import pytest

from bench import surface
from bench.surface import CASES, FIGURES, measure


async def test_every_request_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(surface, "WARM_UPS", 1)
    figures = await measure(requests=2, rounds=1)
    assert list(figures) == [case.name for case in CASES]
    assert len(CASES) >= 5
    for row in figures.values():
        assert row.keys() == set(FIGURES) | {"limit_p99_us"}
        assert min(row.values()) > 0
