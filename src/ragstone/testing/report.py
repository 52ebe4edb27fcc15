"""The report of `--ragstone-report`: every check of a test run with its evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.report import document as doc
from ragstone.report.builders.parts import build_list, build_panel, build_table, build_text_columns
from ragstone.report.files import write_text
from ragstone.report.render import html, markdown
from ragstone.report.translator import Translator, load_translator


def write_checks(records: Sequence[Mapping[str, Any]], path: str | Path, language: str) -> None:
    """Write the checks, as `Checker.records` holds them, as a page, Markdown or JSON, by the suffix of the path."""
    ending = Path(path).suffix.lower()
    if ending == ".json":
        write_text(path, json.dumps(list(records), ensure_ascii=False, indent=2) + "\n")
        return
    document = _build_document(records, load_translator(language))
    write_text(path, html.render(document) if ending == ".html" else markdown.render(document))


def _build_document(records: Sequence[Mapping[str, Any]], t: Translator) -> doc.ReportDocument:
    missed = [record for record in records if not record["passed"]]
    state = t.count("checks_missed", len(missed)) if missed else t("checks_met")
    head = (
        doc.Heading(t("checks_title"), 1),
        doc.Byline((t.count("checks_count", len(records)),)),
        doc.Status(state, "bad" if missed else "good"),
    )
    columns = build_text_columns(
        t, "check_test", "check_sample", "metric", "check_rule", "value", "check_result"
    )
    table = build_table(columns, [_build_row(record, t) for record in records])
    items = [
        doc.ListItem(
            record["lines"][0],
            "bad",
            id=record["test"],
            nodes=tuple(doc.Paragraph(line.strip(), style="soft") for line in record["lines"][1:]),
        )
        for record in missed
    ]
    faults = [build_panel("faults", t("checks_faults"), build_list(items, style="claims"))]
    body = (*(faults if items else []), build_panel("checks", t("checks_title"), table))
    return doc.ReportDocument("checks", t, t("checks_title"), t("report"), head, body)


def _build_row(record: Mapping[str, Any], t: Translator) -> doc.Cells:
    passed = record["passed"]
    result = t("check_ok" if passed else "check_fault")
    return (
        record["test"],
        record["sample"],
        doc.TableCell(doc.Styled(record["metric"], "code")),
        record["rule"],
        t.number(record["value"]),
        doc.TableCell(result, "good" if passed else "bad"),
    )
