"""Tool metrics, without a judge: which tools a system called, against those that were expected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ragstone.errors import NotApplicable
from ragstone.registry import metric
from ragstone.types import Finding, Score, Steps, ToolStep, share


@metric
def tool_precision(steps: Steps, expected_steps: Steps) -> Score:
    """Calls that were expected ÷ calls made, by name, and by arguments where the expected call gives some.

    Each expected call is matched once; arguments that it does not name may have any value."""
    if not steps:
        raise NotApplicable("no_tool_calls")
    matched = set(_match_calls(steps, expected_steps).values())
    return share(
        [_describe(s, "expected" if n in matched else "unexpected") for n, s in enumerate(steps)],
        "expected",
    )


@metric
def tool_recall(steps: Steps, expected_steps: Steps) -> Score:
    """Expected calls made ÷ expected calls, by name, and by arguments where the expected call gives some."""
    if not expected_steps:
        raise NotApplicable("no_tool_calls_expected")
    matched = _match_calls(steps, expected_steps)
    return share(
        [_describe(s, "made" if n in matched else "missing") for n, s in enumerate(expected_steps)],
        "made",
    )


@metric
def tool_order(steps: Steps, expected_steps: Steps) -> Score:
    """Longest common subsequence of made and expected calls ÷ the longer of the two."""
    if not steps and not expected_steps:
        raise NotApplicable("no_tool_calls")
    lengths = [0] * (len(expected_steps) + 1)
    for step in steps:
        diagonal = 0
        for at, expected in enumerate(expected_steps, 1):
            above = lengths[at]
            lengths[at] = diagonal + 1 if _fits(step, expected) else max(above, lengths[at - 1])
            diagonal = above
    return Score(lengths[-1] / max(len(steps), len(expected_steps)))


@metric(higher_is_better=False)
def tool_errors(steps: Steps) -> Score:
    """Tool calls that ended in an error ÷ calls."""
    if not steps:
        raise NotApplicable("no_tool_calls")
    return share(
        [_describe(s, "failed" if s.error is not None else "done") for s in steps], "failed"
    )


@metric(higher_is_better=False, bounds=None)
def tool_calls(steps: Steps) -> Score:
    """Tool calls that the system made on the way to its answer."""
    return Score(float(len(steps)))


def _fits(made: ToolStep, expected: ToolStep) -> bool:
    """Whether a call is the expected one."""
    if made.tool != expected.tool:
        return False
    given = made.arguments or {}
    wanted = expected.arguments or {}
    return all(name in given and given[name] == value for name, value in wanted.items())


def _match_calls(steps: Steps, expected: Steps) -> dict[int, int]:
    """Match as many expected calls as possible with a call each: index of the expected one → index of the made one."""
    owner: dict[int, int] = {}
    for index in range(len(expected)):
        _assign(index, lambda e, m: _fits(steps[m], expected[e]), range(len(steps)), owner, set())
    return {wanted: made for made, wanted in owner.items()}


def _assign(
    index: int,
    fits: Callable[[int, int], bool],
    made: Sequence[int],
    owner: dict[int, int],
    tried: set[int],
) -> bool:
    """Give an expected call a made one, moving others where that helps (augmenting paths)."""
    for call in made:
        if call in tried or not fits(index, call):
            continue
        tried.add(call)
        if call not in owner or _assign(owner[call], fits, made, owner, tried):
            owner[call] = index
            return True
    return False


def _describe(step: ToolStep, verdict: str) -> Finding:
    arguments: dict[str, Any] = dict(step.arguments or {})
    values = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return Finding(f"{step.tool}({values})", verdict, step.error or "")
