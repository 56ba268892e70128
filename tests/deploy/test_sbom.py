"""scripts/sbom: every pinned package is in it, with its hashes."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.processes
def test_every_pin_is_a_part_with_hashes() -> None:
    said = subprocess.run([ROOT / "scripts" / "sbom"], capture_output=True, text=True, check=True, timeout=60).stdout
    parts = json.loads(said)["components"]
    pins = re.findall(r"^([\w.-]+)==([^ ;\\]+)", (ROOT / "requirements" / "serve.txt").read_text(), re.MULTILINE)
    *packages, vendored = parts
    assert [(part["name"], part["version"]) for part in packages] == pins
    assert all(part["hashes"] for part in packages)
    assert re.fullmatch(r"pkg:npm/swagger-ui-dist@[0-9.]+", vendored["purl"])
    assert len(vendored["components"]) == 6
    assert all((ROOT / file["name"]).is_file() and file["hashes"] for file in vendored["components"])
