"""The contract of targets on the smallest target."""

import pytest

from duly.testing.contract.target import TestTarget, TestTargetAway
from tests.targets.memory import Memory

__all__ = ["TestTarget", "TestTargetAway"]


@pytest.fixture
def place() -> Memory:
    return Memory()
