"""The file of a project, ``launchlens.toml``: its tables, which several doors read. A leaf."""

from __future__ import annotations

PROJECT_FILE = "launchlens.toml"
SETTINGS_TABLE = "settings"
"""What the command line takes for granted in this folder (`launchlens.cli.settings`)."""
LIMITS_TABLE = "models"
"""Limits for each model and phase (`launchlens.limits.budget`)."""
TABLES = (SETTINGS_TABLE, LIMITS_TABLE)
