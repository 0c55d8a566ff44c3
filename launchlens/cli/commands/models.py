"""``launchlens models``: the architectures that can be built without a download."""

from __future__ import annotations

from typing import TYPE_CHECKING

from launchlens.cli.options import ListFormat, ListFormatOption
from launchlens.cli.output import terminal_width, wants_color, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from launchlens.harness.presets import Preset
    from launchlens.records.models import ModelRow

_NOTE = (
    "`launchlens profile --model NAME` builds one with random weights and its true configuration. "
    "A hub id or a local folder works too. Parameters are those of the text decoder."
)


def models(report_format: ListFormatOption = ListFormat.terminal) -> None:
    """List the models that `profile` knows by name."""
    from launchlens.harness.presets import list_presets

    presets = list_presets()
    if report_format is ListFormat.json:
        from launchlens.records.models import ModelList
        from launchlens.serialize import to_json

        write(to_json(ModelList(models=tuple(_row(preset) for preset in presets))), None)
    else:
        write(_render_table(presets), None)


def _render_table(presets: Sequence[Preset]) -> str:
    """All models; the class is left out where the terminal is too narrow for whole hub ids."""
    from rich.text import Text

    from launchlens.render.terminal_tables import new_table, to_text

    rows = [
        (p.name, p.hub_id, str(p.layers), f"{p.text_params_billion:.2f} B", p.config_class)
        for p in presets
    ]
    headers = ("name", "hub id", "layers", "parameters", "class")
    width = terminal_width()
    widths = [max(len(cell) for cell in column) for column in zip(headers, *rows, strict=True)]
    shown = 5 if sum(widths) + 2 * len(widths) <= width else 4
    table = new_table(*headers[:shown], numbers_from=2)
    for row in rows:
        table.add_row(*row[:shown])
    if shown == 5:
        table.columns[4].justify = "left"
    return to_text([table, Text(), Text(_NOTE)], width=width, color=wants_color(None))


def _row(p: Preset) -> ModelRow:
    from launchlens.records.models import ModelRow

    return ModelRow(p.name, p.hub_id, p.layers, p.text_params_billion, p.config_class)
