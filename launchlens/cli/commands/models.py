"""``launchlens models``: the architectures that can be built without a download."""

from __future__ import annotations

from typing import Annotated

from launchlens.cli.options import OutputOption, format_option
from launchlens.cli.output import choose_format, show


def models(
    report_format: Annotated[str | None, format_option("models")] = None,
    output: OutputOption = None,
) -> None:
    """List the models that `profile` knows by name."""
    from launchlens.harness.presets import list_presets
    from launchlens.records.models import ModelList, ModelRow
    from launchlens.report.models import models_document

    chosen = choose_format("models", report_format, output)
    rows = (
        ModelRow(p.name, p.hub_id, p.layers, p.text_params_billion, p.config_class)
        for p in list_presets()
    )
    show(models_document(ModelList(models=tuple(rows))), chosen, output)
