"""A run as JUnit XML: one test for each gate, and one for each metric's completeness."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ragstone.report import figures
from ragstone.report.words import words

if TYPE_CHECKING:
    from ragstone.analysis import MetricSummary, Summary
    from ragstone.config.gates import GateResult
    from ragstone.store import StoredRun

ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, even escaped."""


def render(run: StoredRun, summary: Summary) -> str:
    """The run as one test suite."""
    info = summary.run
    cases = [_complete(one, summary.floor) for one in summary.metrics]
    cases += [_gate(gate) for gate in summary.gates]
    totals = {
        "name": info.name or info.id,
        "tests": str(len(cases)),
        "failures": str(sum(case.find("failure") is not None for case in cases)),
        "errors": str(sum(case.find("error") is not None for case in cases)),
        "skipped": "0",
        "time": "0",
    }
    root = _element("testsuites", totals)
    suite = _element("testsuite", {**totals, "timestamp": info.created[:19]}, root)
    facts = {"run": info.id, "data": info.source, "judge": info.judge or "none"}
    facts |= {"samples": str(summary.samples), "floor": f"{summary.floor:g}"}
    for one in summary.metrics:
        if one.mean is not None:
            facts[f"mean.{one.metric}"] = repr(one.mean)
    holder = SubElement(suite, "properties")
    for name, value in facts.items():
        _element("property", {"name": name, "value": value}, holder)
    suite.extend(cases)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _complete(one: MetricSummary, floor: float) -> Element:
    """Too few scores is an error, not a failure: it says nothing about the system under test."""
    case = _element("testcase", {"classname": "ragstone.complete", "name": one.metric, "time": "0"})
    lines = [line.text for line in figures.metric_lines(one, floor, words("en"))]
    if not one.complete:
        error = _element("error", {"type": "incomplete", "message": lines[0]}, case)
        error.text = _legal("\n".join(lines))
    elif lines:
        SubElement(case, "system-out").text = _legal("\n".join(lines))
    return case


def _gate(gate: GateResult) -> Element:
    name = f"{gate.metric} {gate.rule}"
    case = _element("testcase", {"classname": "ragstone.gate", "name": name, "time": "0"})
    if gate.passed is None:
        _element("error", {"type": "undecided", "message": gate.sentence}, case)
    elif not gate.passed:
        _element("failure", {"type": "gate", "message": gate.sentence}, case)
    return case


def _element(tag: str, attributes: dict[str, str], parent: Element | None = None) -> Element:
    legal = {name: _legal(value) for name, value in attributes.items()}
    return Element(tag, legal) if parent is None else SubElement(parent, tag, legal)


def _legal(text: str) -> str:
    return ILLEGAL.sub("\N{REPLACEMENT CHARACTER}", text)
