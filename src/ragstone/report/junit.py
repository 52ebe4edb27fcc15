"""A run as JUnit XML: one test for each gate, and one for each metric's completeness."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ragstone.report import figures
from ragstone.report.translator import load_translator

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary, Summary
    from ragstone.config.gates import GateResult

ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, even escaped."""


def render(summary: Summary, seconds: float | None = None) -> str:
    """The run as one test suite; `seconds` is how long it took.

    Its metrics were scored together, so that a single test has no time of its own."""
    info = summary.run
    cases = [_build_completeness(metric, summary.floor) for metric in summary.metrics]
    cases += [_build_gate(gate) for gate in summary.gates]
    totals = {
        "name": info.name or info.id,
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        # Undecided gates count as errors, never as skipped: CI shows skipped tests as fine.
        "skipped": "0",
    }
    if seconds is not None:
        totals["time"] = f"{seconds:.3f}"
    # Some readers want the totals on the root, others on the suite.
    root = _make_element("testsuites", totals)
    suite = _make_element("testsuite", {**totals, "timestamp": info.created[:19]}, root)
    facts = {"run": info.id, "data": info.source, "judge": info.judge or "none"}
    facts |= {"samples": str(summary.samples), "floor": f"{summary.floor:g}"}
    for metric in summary.metrics:
        if metric.mean is not None:
            facts[f"mean.{metric.metric}"] = repr(metric.mean)
    holder = SubElement(suite, "properties")
    for name, value in facts.items():
        _make_element("property", {"name": name, "value": value}, holder)
    suite.extend(cases)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _build_completeness(metric: MetricSummary, floor: float) -> Element:
    """Too few scores is an error, not a failure: it says nothing about the system under test."""
    case = _make_element("testcase", {"classname": "ragstone.complete", "name": metric.metric})
    lines = [line.text for line in figures.describe_metric(metric, floor, load_translator("en"))]
    if not metric.complete:
        # `describe_metric` puts what is incomplete first
        error = _make_element("error", {"type": "incomplete", "message": lines[0]}, case)
        error.text = _replace_illegal("\n".join(lines))
    elif lines:
        SubElement(case, "system-out").text = _replace_illegal("\n".join(lines))
    return case


def _build_gate(gate: GateResult) -> Element:
    name = f"{gate.metric} {gate.rule}"
    case = _make_element("testcase", {"classname": "ragstone.gate", "name": name})
    if gate.passed is None:
        _make_element("error", {"type": "undecided", "message": gate.sentence}, case)
    elif not gate.passed:
        _make_element("failure", {"type": "gate", "message": gate.sentence}, case)
    return case


def _make_element(tag: str, attributes: dict[str, str], parent: Element | None = None) -> Element:
    legal = {name: _replace_illegal(value) for name, value in attributes.items()}
    return Element(tag, legal) if parent is None else SubElement(parent, tag, legal)


def _replace_illegal(text: str) -> str:
    return ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
