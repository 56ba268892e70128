"""A pytest plugin for runs on a broken copy: it ends a run whose processes import something else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import duly

COPY = "DULY_SABOTAGE_COPY"
"""The environment variable with the folder of the copy."""
WRONG_IMPORT = 99
"""The exit code of a run that would test something else."""


def pytest_configure() -> None:
    copy = Path(os.environ[COPY])
    for name, file in (("duly", duly.__file__), ("tests", __file__)):
        if file is None or not Path(file).is_relative_to(copy):
            pytest.exit(f"{name} is imported from {file}; expected {copy}", WRONG_IMPORT)
