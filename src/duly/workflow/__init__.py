"""Workflows: jobs whose steps are durable. A body is replayed, a step is not."""
