"""Config files, read strictly: all errors are reported at once, each with its line; secrets come from the environment."""

from __future__ import annotations

import re
from pathlib import Path

from ragstone.config.document import read_document
from ragstone.config.gates import FIGURE_PATTERN
from ragstone.config.plan import Data as Data
from ragstone.config.plan import Plan as Plan
from ragstone.config.plan import Slurm as Slurm
from ragstone.config.plan import SystemPlan as SystemPlan
from ragstone.config.plan_reader import PlanReader
from ragstone.config.secrets import Secret as Secret
from ragstone.config.secrets import expand_variables
from ragstone.config.secrets import mask_password as mask_password
from ragstone.config.secrets import reveal as reveal
from ragstone.errors import ConfigError


def load(path: str | Path, missing_keys: list[str] | None = None) -> Plan:
    """The plan that a YAML file describes, or ConfigError with everything that is wrong in it.

    With `missing_keys` an API key that is not set is noted there instead."""
    file = Path(path)
    errors: list[str] = []
    tree = expand_variables(read_document(file, errors), errors, missing_keys=missing_keys)
    plan = PlanReader(file, errors).read_plan(tree)
    if errors:
        # by line, so that a user can work through the file from top to bottom
        raise ConfigError(sorted(set(errors), key=_get_line))
    return plan


def split_gate(text: str) -> tuple[str, str]:
    """Metric and rule of a gate on one line: `recall@5 >= 0.8`, `recall@5 mean >= 0.8`."""
    match = _GATE.fullmatch(text.strip())
    if match is None:
        raise ConfigError(
            [f"{text!r} is not a gate; write 'recall@5 >= 0.8' or 'recall@5 mean >= 0.8'"]
        )
    return match["metric"], " ".join(match["rule"].split())


_GATE = re.compile(
    r"(?P<metric>[^\W\d][^<>≥≤]*?)\s*:?\s*"
    rf"(?P<rule>(?:\b(?:{FIGURE_PATTERN})\s*)?(?:[<>]=?|[≥≤])[^<>=≥≤]*)",
    re.IGNORECASE,
)


def _get_line(error: str) -> tuple[int, str]:
    """Sort key of an error `file:line: sentence`: the line, then the text; those without a line come first."""
    match = re.match(r".*?:(\d+): ", error)
    return (int(match[1]) if match else 0, error)
