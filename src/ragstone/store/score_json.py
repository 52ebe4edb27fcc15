"""Scores as JSON: on their way from worker to driver, in rows of the monitor, and in the API."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from ragstone.locale.messages import message_from_json, message_to_json
from ragstone.store.damage import explain_damage
from ragstone.store.rows import dump_json
from ragstone.types import NO_USAGE, Finding, Score, SecondOpinion, Usage

_USAGE_DEFAULTS = tuple(asdict(NO_USAGE).items())


def encode_scores(scores: Mapping[str, Score]) -> str:
    """Encode scores as one JSON object: metric → number, or → object where there is more than a number."""
    items: dict[str, Any] = {}
    for name, score in scores.items():
        item = score_to_json(score, message_to_json)
        items[name] = item["value"] if item.keys() == {"value"} else item
    return dump_json(items)


def decode_scores(text: str) -> dict[str, Score]:
    """Decode what `encode_scores` wrote."""
    return {
        name: Score(float(item)) if isinstance(item, int | float) else score_from_json(item)
        for name, item in json.loads(text).items()
    }


def encode_score(score: Score) -> str:
    """Encode one score with its evidence."""
    return dump_json(score_to_json(score, message_to_json))


def decode_score(text: str) -> Score:
    """Decode the score that `encode_score` wrote; StoreError when the text is damaged."""
    with explain_damage("a score in the store"):
        return score_from_json(json.loads(text))


def score_to_json(score: Score, write: Callable[[str], Any] = str) -> dict[str, Any]:
    """Return the fields that differ from their defaults; `write` converts each message, by default to its English sentence."""
    item: dict[str, Any] = {}
    if score.value is not None:
        item["value"] = float(score.value)
    else:
        item |= {"outcome": score.outcome, "reason": write(score.reason)}
    for name in ("kind", "label", "probability"):
        if (value := getattr(score, name)) is not None:
            item[name] = value
    if score.warnings:
        item["warnings"] = [write(text) for text in score.warnings]
    if score.usage != NO_USAGE:
        item["usage"] = {
            name: value
            for name, default in _USAGE_DEFAULTS
            if (value := getattr(score.usage, name)) != default
        }
    if score.findings:
        item["findings"] = [_finding_to_json(finding, write) for finding in score.findings]
    return item


def score_from_json(item: Mapping[str, Any]) -> Score:
    """Build the score of which `score_to_json` made this."""
    return Score(
        value=item.get("value"),
        outcome=item.get("outcome", "ok"),
        reason=message_from_json(item.get("reason", "")),
        kind=item.get("kind"),
        label=item.get("label"),
        findings=tuple(map(_finding_from_json, item.get("findings", ()))),
        warnings=tuple(map(message_from_json, item.get("warnings", ()))),
        usage=Usage(**item["usage"]) if "usage" in item else NO_USAGE,
        probability=item.get("probability"),
    )


def _finding_to_json(finding: Finding, write: Callable[[str], Any]) -> dict[str, Any]:
    item: dict[str, Any] = {"text": finding.text, "verdict": finding.verdict}
    if finding.reason:
        item["reason"] = write(finding.reason)
    for name in ("chunk", "quote"):
        if value := getattr(finding, name):
            item[name] = value
    for name in ("start", "end", "verified", "span", "probability"):
        if (value := getattr(finding, name)) is not None:
            item[name] = value
    if finding.opinion is not None:
        item["opinion"] = asdict(finding.opinion)
    return item


def _finding_from_json(item: Mapping[str, Any]) -> Finding:
    fields = dict(item)
    if "span" in fields:
        fields["span"] = tuple(fields["span"])
    if "reason" in fields:
        fields["reason"] = message_from_json(fields["reason"])
    if "opinion" in fields:
        fields["opinion"] = SecondOpinion(**fields["opinion"])
    return Finding(**fields)
