"""What duly tells whoever watches it: metrics, and logs in the shape that machines and people read."""
