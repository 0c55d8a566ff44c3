"""Records written in a format, as commands do it."""

from __future__ import annotations

from launchlens.records.blocking import BlockerReport
from launchlens.records.comparison import Comparison
from launchlens.render import write
from launchlens.report.analysis import analysis_document
from launchlens.report.blockers import blockers_document
from launchlens.report.comparison import comparison_document
from launchlens.report.trend import trend_document


def document_of(record, timelines=()):
    if isinstance(record, Comparison):
        return comparison_document(record, timelines)
    if isinstance(record, BlockerReport):
        return blockers_document(record)
    if isinstance(record, (list, tuple)):
        return trend_document(record)
    return analysis_document(record, timelines)


def in_terminal(record, **manner):
    return write(document_of(record), "terminal", **manner)


def as_markdown(record):
    return write(document_of(record), "markdown")


def as_github(markdown):
    """The page that GitHub's own parser makes of Markdown, tags of HTML left in."""
    import cmarkgfm
    from cmarkgfm.cmark import Options

    unsafe = Options.CMARK_OPT_UNSAFE
    return cmarkgfm.github_flavored_markdown_to_html(markdown, options=unsafe)


def as_html(record, timelines=()):
    return write(document_of(record, timelines), "html")


def as_csv(record):
    return write(document_of(record), "csv")
