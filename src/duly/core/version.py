"""The version of duly, in one place."""

VERSION = "0.1.0"
