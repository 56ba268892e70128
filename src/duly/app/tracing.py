"""Whether an app traces, and with what."""

from __future__ import annotations

from typing import Any

from duly.config import Settings
from duly.core.errors import ConfigurationError
from duly.runtime.clock import Clock
from duly.runtime.tracing import Tracing


def make_tracing(settings: Settings, clock: Clock, provider: Any) -> Tracing | None:
    """A tracer where one was asked for: on the provider that was given, or on the one of the process."""
    if provider is None and not settings.tracing:
        return None
    try:
        from duly.telemetry.tracing import OpenTelemetryTracing
    except ImportError as error:
        raise ConfigurationError(
            f"tracing needs OpenTelemetry ({error}); install it with: pip install 'duly[otel]'"
        ) from error
    return OpenTelemetryTracing(clock, provider)
