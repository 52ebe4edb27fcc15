"""Every sentence that the code gives to a reader of a report is a code of the catalogue, with its arguments."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator

from ragstone.locale.catalogue import load_phrases
from source_trees import list_nodes

MESSAGES = load_phrases("en", "messages")

CODED = {
    "NotApplicable": 0, "MissingField": 0, "SystemFailed": 0, "OutOfBudget": 0, "JudgeFailed": 1,
    "ReplyFault": 0, "MalformedReply": 0, "SystemFault": 0, "compose": 0,
}  # fmt: skip
"""What takes a code, and at which place."""

NOT_ARGUMENTS = {"label", "is_transient", "retry_seconds"}


def calls() -> Iterator[tuple[str, str, ast.Call]]:
    """Place, name and node of every call."""
    for path, nodes in list_nodes().items():
        for node in nodes:
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                yield f"{path}:{node.lineno}", name, node


def literals(node: ast.expr) -> Iterator[ast.expr]:
    """The texts that an expression may stand for, as far as they are written there."""
    if isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from literals(value)
    elif isinstance(node, ast.BinOp | ast.JoinedStr) or (
        isinstance(node, ast.Constant) and isinstance(node.value, str)
    ):
        yield node


def codes(node: ast.expr) -> set[str]:
    """The codes that a text stands for; `f"{lack}_because"` stands for all that fit."""
    if isinstance(node, ast.Constant):
        return {node.value} & set(MESSAGES)
    if isinstance(node, ast.JoinedStr):
        parts = [
            re.escape(part.value) if isinstance(part, ast.Constant) else r"\w+"
            for part in node.values
        ]
        pattern = re.compile("".join(map(str, parts)))
        return {code for code in MESSAGES if pattern.fullmatch(code)}
    return set()


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


OWN_WORDS = re.compile(r'f"\{\w+\}: \{\w+\}"|f\'\{\w+\}: \{\w+\}\'')
"""`ValueError: text`: what somebody else raised, in their own words."""


def test_what_is_raised_is_a_code_with_its_arguments() -> None:
    seen = 0
    for place, name, call in calls():
        if name not in CODED or len(call.args) <= CODED[name]:
            continue
        for text in literals(call.args[CODED[name]]):
            if OWN_WORDS.fullmatch(ast.unparse(text)):
                continue
            known = codes(text)
            assert known, f"{place}: {ast.unparse(text)} is no code of locale/en/messages.toml"
            seen += 1
            given = {keyword.arg for keyword in call.keywords} - NOT_ARGUMENTS
            if None not in given:
                for code in known:
                    assert placeholders(MESSAGES[code]) == given, f"{place}: {code}"
    assert seen > 150


def test_scores_and_findings_carry_no_prose() -> None:
    """A literal text would stay English in every report."""
    at = {"Finding": 2, "Score": 2}
    for place, name, call in calls():
        if name not in at:
            continue
        texts = [
            keyword.value for keyword in call.keywords if keyword.arg in ("reason", "warnings")
        ]
        texts += call.args[at[name] : at[name] + 1]
        for text in texts:
            items = text.elts if isinstance(text, ast.Tuple) else [text]
            for literal in (literal for item in items for literal in literals(item)):
                assert ast.unparse(literal) == "''", f"{place}: {ast.unparse(literal)}"


def test_every_message_is_used() -> None:
    said: set[str] = set()
    arguments: set[str] = set()
    for nodes in list_nodes().values():
        for node in nodes:
            if isinstance(node, ast.JoinedStr):
                said |= codes(node) if len(ast.unparse(node)) > 6 else set()
            elif isinstance(node, ast.Constant):
                said |= {node.value} & set(MESSAGES) if isinstance(node.value, str) else set()
            elif isinstance(node, ast.keyword) and node.arg:
                arguments.add(node.arg)
    words = {key for key in MESSAGES if key.partition(".")[0] in arguments | {"figure"}}
    assert sorted(set(MESSAGES) - said - {key for key in words if "." in key}) == []


def test_a_code_is_not_an_ordinary_word() -> None:
    """A user's `NotApplicable("timeout")` must not be taken for a code of ours."""
    # `refused` is the reason that docs/metrics.md names
    notes = {"heuristic", "refused"}
    assert [code for code in MESSAGES if not re.search(r"[_.]", code) and code not in notes] == []
    for text in MESSAGES.values():
        assert not placeholders(text) & {"code", "in", *NOT_ARGUMENTS}
