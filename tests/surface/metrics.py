"""Derives metrics from a scrape in which every metric has a sample: names, types, labels and buckets."""

from __future__ import annotations

from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from duly.core.run import Completed
from duly.runtime.clock import SystemClock
from duly.store.load import Load, Waits
from duly.telemetry.exposition import Exposition
from duly.telemetry.metrics import Metrics
from tests.surface.diff import Tree

OWN = "example"
"""A label value that users choose: the name of a job or of a target."""


def derive() -> Tree:
    """Return each metric by name. A label lists its fixed values; the list is empty where users choose them."""
    metrics = Metrics(SystemClock())
    metrics.jobs.of(OWN).ended[Completed] += 1
    metrics.targets.of(OWN)
    metrics.loop_failed(OWN, Exception())
    load = Load(0, 0, 0, 0, 0, waits=Waits(0, 0, 0, 0, 0))
    text = Exposition(metrics, store="sqlite").text(load)[0].decode()
    tree: Tree = {}
    for family in text_string_to_metric_families(text):
        if not family.name.startswith("duly_"):
            continue  # process_* depends on the platform
        labels: dict[str, Any] = {}
        for sample in family.samples:
            for label, value in sample.labels.items():
                labels.setdefault(label, set()).add(value)
        tree[family.name] = {
            "type": family.type,
            "samples": sorted({sample.name for sample in family.samples}),
            "label": {
                name: [] if OWN in values or family.name == "duly_build_info" else sorted(values)
                for name, values in labels.items()
            },
        }
    return tree
