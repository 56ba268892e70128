"""The contract that every target keeps; see ``duly.testing.contract.target``."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(f"{__name__}.target")
