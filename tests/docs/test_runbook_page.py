"""docs/runbook.md: every alert leads to a section of the page."""

import re
from pathlib import Path

import yaml

from tests.counting import at_least

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "runbook.md").read_text("utf-8")


def test_every_alert_leads_to_a_section_of_the_runbook() -> None:
    rules = yaml.safe_load((ROOT / "deploy" / "prometheus" / "alerts.yml").read_text("utf-8"))["groups"][0]["rules"]
    headings = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    sections = {
        alert: re.findall(r"\(#([a-z-]+)\)", row)
        for row in re.findall(r"^\| `Duly.*$", PAGE, re.MULTILINE)
        for alert in re.findall(r"`(Duly\w+)`", row)
    }
    assert sections.keys() == {rule["alert"] for rule in at_least(rules, 18, "alerts")}
    assert {alert: links for alert, links in sections.items() if not links or set(links) - anchors} == {}
