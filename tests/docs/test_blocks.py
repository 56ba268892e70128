"""Every fenced block of docs/ is run or compared by a test; here those that no test of their page takes."""

import asyncio
import json
import re
import shutil
import subprocess
import tomllib
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from duly.api.streaming import event_bytes
from duly.cli import main
from duly.config import load
from duly.core.event import Event
from duly.core.webhook import Happening, payload_of
from duly.targets.registering import make_target
from duly.testing.contract import target as contract
from duly.testing.contract.target import message
from tests.counting import at_least
from tests.docs.blocks import Block, blocks, pages

ROOT = Path(__file__).parents[2]
PAGES = pages()
BLOCKS = at_least(
    [block for page in PAGES for block in blocks(page, (ROOT / "docs" / page).read_text("utf-8"))], 235, "blocks"
)
HERE = "tests/docs/test_blocks.py"
TYPED = "tests/docs/test_typed_pages.py"
PROJECTS = "tests/docs/test_typed_projects.py"
TAKEN = {
    ("auth.md", "console"): TYPED,
    ("brokers.md", "python"): HERE,
    ("cli.md", "console"): TYPED,
    ("cli.md", "python"): "tests/cli/test_documentation.py",
    ("cli.md", "sh"): "tests/cli/test_documentation.py",
    ("dashboard.md", "python"): "tests/docs/test_pages.py",
    ("deployment.md", "sh"): TYPED,
    ("deployment.md", "sql"): "tests/cli/test_rights.py",
    ("dst.md", "python"): "tests/docs/test_pages.py",
    ("howto.md", "python"): "tests/docs/test_pages.py",
    ("index.md", "python"): "tests/docs/test_pages.py",
    ("integrations.md", "console"): PROJECTS,
    ("integrations.md", "python"): "tests/docs/test_integrations_page.py",
    ("metrics.md", "yaml"): HERE,
    ("migrating.md", "console"): TYPED,
    ("migrating.md", "json"): TYPED,
    ("migrating.md", "python"): "tests/docs/test_migrating.py",
    ("reference-cli.md", "text"): "tests/docs/test_reference.py",
    ("rest.md", "json"): "tests/api/test_page.py",
    ("rest.md", "sh"): "tests/api/test_page.py",
    ("rest.md", "text"): HERE,
    ("runbook.md", "sh"): HERE,
    ("serving.md", "sh"): TYPED,
    ("targets.md", "json"): PROJECTS,
    ("targets.md", "python"): HERE,
    ("testing.md", "python"): "tests/docs/test_testing_page.py",
    ("tracing.md", "sh"): "tests/docs/test_not_run.py",
    ("tutorial.md", "console"): "tests/docs/test_tutorial.py",
    ("tutorial.md", "console kill"): "tests/docs/test_tutorial.py",
    ("tutorial.md", "python"): "tests/docs/test_tutorial.py",
    ("tutorial.md", "sh"): "tests/docs/test_tutorial.py",
    ("webhooks.md", "js"): "tests/docs/test_webhooks_page.py",
    ("webhooks.md", "json"): HERE,
    ("webhooks.md", "python"): "tests/docs/test_webhooks_page.py",
    ("webhooks.md", "sh"): TYPED,
    ("worker-protocol.md", "python"): PROJECTS,
    ("worker-protocol.md", "sh"): "tests/docs/test_worker_protocol.py",
    ("workflows.md", "python"): "tests/docs/test_workflows_page.py",
}
"""Who takes the blocks of a page; blocks of settings are all taken here, and drawings have no language."""


PYPROJECT = ("[project", "[tool")
"""How blocks begin that belong into the reader's own pyproject.toml."""


def of(page: str, language: str) -> list[Block]:
    return [block for block in BLOCKS if (block.page, block.language) == (page, language)]


def test_no_block_is_without_a_test() -> None:
    there = {(block.page, block.language) for block in BLOCKS if block.language not in ("", "toml")}
    assert there == set(TAKEN)
    for (page, _), test in TAKEN.items():
        text = (ROOT / test).read_text("utf-8")
        assert page in text or "reference" in test, test


def test_commands_are_typed_and_not_only_parsed() -> None:
    parsed = {place for place, test in TAKEN.items() if test.endswith("test_pages.py")}
    assert {language for _, language in parsed} == {"python"}


@pytest.mark.parametrize(
    "block",
    at_least(
        [block for block in BLOCKS if block.language == "toml" and not block.text.startswith(PYPROJECT)],
        8,
        "blocks of settings",
    ),
    ids=lambda block: f"{block.page}-{block.line}",
)
def test_settings_of_a_page_are_settings(block: Block, tmp_path: Path) -> None:
    made = CliRunner().invoke(main, ["db", "key", "2026a"]).stdout.strip()
    text = block.text.replace("2026a:…", made)
    (tmp_path / "duly.toml").write_text(text)
    loaded = load(config=tmp_path / "duly.toml", environment={})
    assert not loaded.warnings
    assert loaded.targets or any(origin.endswith("duly.toml") for origin in loaded.origins.values())


def test_what_belongs_into_pyproject_has_tests_of_its_own() -> None:
    there = [block.page for block in BLOCKS if block.language == "toml" and block.text.startswith(PYPROJECT)]
    assert there == ["targets.md", "testing.md"], "below, and in test_testing_page.py"


def test_the_scrape_configuration_is_one(promtool: str, tmp_path: Path) -> None:
    (block,) = of("metrics.md", "yaml")
    (tmp_path / "prometheus.yml").write_text(block.text)
    shutil.copy(ROOT / "deploy" / "prometheus" / "alerts.yml", tmp_path)
    done = subprocess.run(
        [promtool, "check", "config", str(tmp_path / "prometheus.yml")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_target_of_ones_own_is_found_as_the_page_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the block puts into a package's metadata is there as an installer writes it."""
    (block,) = [one.text for one in of("targets.md", "toml") if one.text.startswith("[project")]
    ((group, points),) = tomllib.loads(block)["project"]["entry-points"].items()
    (tmp_path / "fax-1.dist-info").mkdir()
    (tmp_path / "fax-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: fax\nVersion: 1\n")
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (tmp_path / "fax-1.dist-info" / "entry_points.txt").write_text("\n".join(lines))
    (tmp_path / "my_package.py").write_text(
        "class FaxTarget:\n    def __init__(self, name, url):\n        self.given = name, url\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    made: Any = make_target("office", "fax://5550100")
    assert made.given == ("office", "fax://5550100")


def test_the_message_of_a_webhook_has_these_words() -> None:
    (block,) = of("webhooks.md", "json")
    shown = json.loads(block.text)
    words: dict[str, Any] = dict.fromkeys(field.name for field in fields(Happening))
    kept = json.loads(payload_of(0, Happening(**words | {"event": "run.failed", "key": "nightly", "webhook_id": "w"})))
    assert (shown["source"], shown["type"]) == (kept["source"], kept["type"])
    assert list(shown["data"]) == list(kept["data"])


def test_an_event_of_the_stream_looks_like_this() -> None:
    (block,) = of("rest.md", "text")
    at = datetime(2026, 11, 16, 2, 0, 7, 120_000, UTC)
    told = event_bytes(Event(name="run.failed", at=at, schedule_key="nightly", number=4711)).decode()
    parts = [part.strip(",}\n") for part in block.text.split("...")]
    assert all(part in told for part in parts)
    assert told.startswith(parts[0])


def test_the_contract_is_collected_as_the_page_says() -> None:
    names: dict[str, Any] = {}
    (block,) = of("targets.md", "python")
    exec(compile(block.text, "targets.md", "exec"), names)
    assert (names["TestTarget"], names["TestTargetAway"]) == (contract.TestTarget, contract.TestTargetAway)
    assert "place" in names
    named = re.search(r"# (.*); see duly\.testing\.contract\.target\.Place", block.text)
    assert named is not None
    for method in named[1].split(", "):
        assert hasattr(contract.Place, method.removesuffix("()")), method


def test_a_schedule_for_celery_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(of("brokers.md", "python")[0].text, "brokers.md", "exec"), {"__name__": "page"})
    told = CliRunner().invoke(main, ["schedule", "get", "nightly", "-o", "json"])
    assert json.loads(told.stdout)["target"]["headers"] == {"task": "reports.nightly"}


def test_the_consumer_consumes(redis_url: str) -> None:
    """As it stands, but for the address; what it prints ends it."""

    async def send() -> None:
        target = make_target("reports", f"{redis_url}?stream=reports")
        await target.open()
        sent = message()
        sent.type = "schedule.reports.nightly.arrived"
        await target.send([sent])
        await target.close()

    def heard(*words: Any) -> None:
        told.append(words)
        names["consumer"].stop()

    told: list[Any] = []
    names: dict[str, Any] = {"__name__": "page", "print": heard}
    asyncio.run(send())
    code = of("brokers.md", "python")[1].text.replace("redis://127.0.0.1:6379/0", redis_url)
    exec(compile(code, "brokers.md", "exec"), names)
    assert told == [(message().id, {"user": 42})]


def test_the_first_look_of_the_runbook_finds_nothing_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (block,) = of("runbook.md", "sh")
    lines = re.findall(r"^duly ([^#\n]+)", block.text, re.MULTILINE)
    assert len(lines) == len(block.text.splitlines())
    for line in ("db migrate", *lines):
        done = CliRunner().invoke(main, [*line.split(), "--database-url", "sqlite:///duly.db"])
        assert done.exit_code == 0, f"duly {line}: {done.output}"
