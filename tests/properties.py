"""How many examples the property tests try."""

from hypothesis import HealthCheck, settings

FULL, FAST = "duly", "duly-fast"
MAX_EXAMPLES = {FULL: 100, FAST: 20}

# Two cores shared with other work: an example may take long without being wrong.
settings.register_profile(
    FULL, max_examples=MAX_EXAMPLES[FULL], deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(FAST, parent=settings.get_profile(FULL), max_examples=MAX_EXAMPLES[FAST])


def examples(count: int) -> int:
    """Return how many to try where a full run tries ``count``: a fifth of them in a fast run."""
    chosen: int = settings.default.max_examples  # type: ignore[union-attr]
    return max(1, count * chosen // MAX_EXAMPLES[FULL])
