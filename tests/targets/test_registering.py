"""How a URL finds its target."""

from importlib.metadata import EntryPoint

import pytest

from duly.core.errors import ConfigurationError
from duly.targets import registering
from duly.targets.registering import check_name, make_target
from tests.targets.memory import Memory, MemoryTarget


def memory_target(name: str, url: str) -> MemoryTarget:
    return MemoryTarget(Memory())


def _points(*values: str):
    def points(*, group: str, name: str | None = None) -> list[EntryPoint]:
        assert group == "duly.targets"
        return [EntryPoint("memory", value, group) for value in values if name in (None, "memory")]

    return points


def test_others_add_theirs_by_an_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registering, "entry_points", _points("tests.targets.test_registering:memory_target"))
    assert isinstance(make_target("here", "memory://anything"), MemoryTarget)
    assert "memory" in registering.schemes()


def test_two_packages_for_one_scheme_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registering, "entry_points", _points("a:b", "c:d"))
    with pytest.raises(ConfigurationError, match="served by a:b and c:d"):
        make_target("here", "memory://anything")


def test_an_unknown_scheme_is_refused_with_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registering, "entry_points", _points("a:b"))
    with pytest.raises(ConfigurationError, match=r"'here': url begins with gopher://; expected one of .*memory"):
        make_target("here", "gopher://x")


@pytest.mark.parametrize("url", ["", "redis", "//host", 7, None])
def test_what_is_no_url_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="expected one such as redis://"):
        make_target("here", url)


@pytest.mark.parametrize("name", ["", "a b", "-a", "a/b", "é", "x" * 65, 7, None, "webhook"])
def test_a_name_is_checked(name: str) -> None:
    with pytest.raises(ConfigurationError, match="target name is"):
        check_name(name)


def test_a_driver_that_is_not_installed_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registering.OURS, "absent", ("no_such_package.target:Target", "absent"))
    with pytest.raises(ConfigurationError, match=r"no_such_package.*pip install 'duly\[absent\]'"):
        make_target("here", "absent://x")
