"""The files of Swagger UI in the package are those that requirements/swagger-ui.sha256 names, byte for byte."""

import re
from hashlib import sha256
from pathlib import Path

from duly.api import pages

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "duly" / "api" / "swagger_ui"
LOCK = (ROOT / "requirements" / "swagger-ui.sha256").read_text("utf-8")
LOCKED = {path: digest for digest, path in re.findall(r"^([0-9a-f]{64})  (\S+)$", LOCK, re.MULTILINE)}


def test_vendored_files_have_the_hashes_of_the_lock() -> None:
    found = {str(file.relative_to(ROOT)): sha256(file.read_bytes()).hexdigest() for file in FOLDER.iterdir()}
    assert len(found) == 6
    assert found == LOCKED


def test_the_lock_names_one_version() -> None:
    assert len(re.findall(r"^# npm swagger-ui-dist@[0-9]+\.[0-9]+\.[0-9]+$", LOCK, re.MULTILINE)) == 1


def test_served_files_are_vendored_with_their_licence() -> None:
    names = {file.name for file in FOLDER.iterdir()}
    assert set(pages._ASSETS) < names
    assert names - set(pages._ASSETS) == {"LICENSE", "NOTICE", "swagger-ui-bundle.js.LICENSE.txt"}
