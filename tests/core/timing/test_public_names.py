"""The public surface of the room."""

import duly.core.timing as timing


def test_the_public_names_are_pinned():
    assert sorted(timing.__all__) == [
        "Cron",
        "DstFold",
        "DstGap",
        "Every",
        "Jitter",
        "Once",
        "Timing",
        "Zone",
        "check_zone",
        "describe",
        "dst_note",
        "explain",
        "from_description",
        "moved_note",
        "parse_duration",
        "timing_from",
        "tz_version",
        "zone_named",
    ]
    assert all(hasattr(timing, name) for name in timing.__all__)
