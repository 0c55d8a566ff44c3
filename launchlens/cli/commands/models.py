"""``launchlens models``: the architectures that can be built without a download."""

from __future__ import annotations

from launchlens.cli.options import ListFormat, ListFormatOption
from launchlens.cli.output import terminal_width, wants_color, write


def models(report_format: ListFormatOption = ListFormat.terminal) -> None:
    """List the models that `profile` knows by name."""
    from launchlens.harness.presets import list_presets
    from launchlens.records.models import ModelList, ModelRow
    from launchlens.render import write as write_report
    from launchlens.report.models import models_document

    rows = (
        ModelRow(p.name, p.hub_id, p.layers, p.text_params_billion, p.config_class)
        for p in list_presets()
    )
    document = models_document(ModelList(models=tuple(rows)))
    text = write_report(
        document, report_format.value, width=terminal_width(), color=wants_color(None)
    )
    write(text, None)
