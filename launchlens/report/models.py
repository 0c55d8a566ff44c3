"""The models that `profile` knows by name, as a document."""

from __future__ import annotations

from launchlens.records.models import ModelList
from launchlens.report.document import Column, Document, Row, Section, Table, Text

_NOTE = (
    "`launchlens profile --model NAME` builds one with random weights and its true configuration. "
    "A hub id or a local folder works too. Parameters are those of the text decoder."
)


def models_document(models: ModelList) -> Document:
    """All models; a narrow terminal leaves the class out."""
    columns = (
        Column("name", "whole"),
        Column("hub id", "text"),
        *(Column(title) for title in ("layers", "parameters")),
        Column("class", "spare"),
    )
    rows = tuple(
        Row((m.name, m.hub_id, str(m.layers), f"{m.text_params_billion:.2f} B", m.config_class))
        for m in models.models
    )
    blocks = (Table("", columns, rows), Text((_NOTE,)))
    return Document(
        kind="models",
        title="launchlens: models",
        sections=(Section("models", "Models known by name", blocks),),
        record=models,
    )
