"""``launchlens models``: the architectures that can be built without a download."""

from __future__ import annotations

from typing import Annotated

from launchlens.cli.options import TERMINAL, format_option
from launchlens.cli.output import show


def models(report_format: Annotated[str, format_option("models")] = TERMINAL) -> None:
    """List the models that `profile` knows by name."""
    from launchlens.harness.presets import list_presets
    from launchlens.records.models import ModelList, ModelRow
    from launchlens.report.models import models_document

    rows = (
        ModelRow(p.name, p.hub_id, p.layers, p.text_params_billion, p.config_class)
        for p in list_presets()
    )
    show(models_document(ModelList(models=tuple(rows))), report_format, None)
