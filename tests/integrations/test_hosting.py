"""Tables that a framework's own command makes or upgrades, also where what people store is encrypted."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from duly import Duly, Settings
from duly.app.stores import inspect_store
from duly.core.errors import PayloadUnreadable
from duly.integrations import hosting
from tests.store.sealing import KEY_A


def test_tables_of_an_encrypted_store_are_upgraded_with_its_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:////{str(tmp_path / 'duly.db').lstrip('/')}"

    async def begin() -> None:
        async with Duly(url, settings=Settings(payload_keys=(KEY_A,)), roles=()):
            pass

    assert hosting.set_up(url, ())
    assert not hosting.set_up(url, ()), "nothing is to be done"
    asyncio.run(begin())
    found = inspect_store(url)
    older = replace(found, schema=found.newest - 1)
    monkeypatch.setattr(hosting, "inspect_store", lambda url: older)
    with pytest.raises(PayloadUnreadable):
        hosting.set_up(url, ())
    assert hosting.set_up(url, (KEY_A,))
