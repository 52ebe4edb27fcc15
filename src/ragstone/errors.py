"""The exceptions of the package.

RagstoneError                      one sentence for the user; the command line prints it and exits 2
├── DataError                      a file or row that cannot be read
│   ├── BadRows                    rejected rows, each with its location and remedy
│   └── UnknownFormat              columns that fit none of the known formats
├── ConfigError                    all errors of a config file at once
├── NothingToScore                 data whose fields fit no metric
├── UnknownMetric                  a metric name or option that is not registered
├── MissingExtra                   an optional package is not installed; names the extra
├── StoreError                     the store cannot be opened, read or written
├── RunNotFound                    no such run in the store
├── ClusterError                   there is no cluster there, or it cannot be used any more
└── Interrupted                    the run was stopped; finished samples are stored

Unscored                           raised inside a metric: this sample gets an outcome, not a number
├── NotApplicable                  nothing to judge
├── MissingField                   the sample lacks a field the metric needs
├── JudgeFailed                    the judge gave no usable reply (kind says how)
├── SystemFailed                   the system under test gave nothing to judge
└── OutOfBudget                    the call was not made because the budget is spent
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, get_args

from ragstone.locale.messages import Argument, Message, compose_or_quote

JudgeFault = Literal[
    "transport", "refusal", "unparseable", "incomplete", "compromised", "unsupported"
]
"""How a judge failed; part of the `judge_error` outcome."""

JUDGE_FAULTS: tuple[str, ...] = get_args(JudgeFault)


class RagstoneError(Exception):
    """An error that one sentence explains to the user."""

    exit_code: ClassVar[int] = 2


class DataError(RagstoneError):
    """A file or row that cannot be read."""


class BadRows(DataError):
    """Rejected rows: `rows` has one sentence each, `file:line: problem; remedy`.

    `more` says that there are or may be bad rows besides these."""

    def __init__(self, rows: Sequence[str], *, more: bool = False) -> None:
        self.rows = tuple(rows)
        self.more = more
        is_single = len(rows) == 1 and not more
        count = "1 bad row; correct it" if is_single else f"{len(rows)} bad rows; correct them"
        head = f"{'at least ' if more else ''}{count} or pass --skip-bad-rows:"
        super().__init__("\n".join([head, *(f"  {row}" for row in rows)]))


class UnknownFormat(DataError):
    """The columns fit none of the known formats."""


class ConfigError(RagstoneError):
    """All errors of a config file at once; `complaints` has one sentence each."""

    def __init__(self, complaints: Sequence[str]) -> None:
        self.complaints = tuple(complaints)
        super().__init__("\n".join(complaints))


class NothingToScore(RagstoneError):
    """Data whose fields fit no metric; the sentence says what the data has and what would help."""

    def __init__(self, message: Message) -> None:
        self.message = message
        super().__init__(message)


class UnknownMetric(RagstoneError):
    """A metric name or option that is not registered."""


class MissingExtra(RagstoneError):
    """An optional package is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional package: pip install 'ragstone[{extra}]'")


class StoreError(RagstoneError):
    """The store cannot be opened, read or written."""


class RunNotFound(RagstoneError):
    """No such run in the store."""


class ClusterError(RagstoneError):
    """There is no cluster at the location, or it cannot be used any more; the run ends, what came back is stored."""


class Interrupted(RagstoneError):
    """The run was stopped; finished samples are stored."""

    exit_code = 130


class Unscored(Exception):
    """Raised inside a metric: the sample gets this outcome, never a number.

    `code` names a sentence of the message catalogue, whose placeholders the keywords fill; any other text (of a
    judge, a system or a user) is shown as it is. `label` is the category of the sample, for tables that count every
    sample."""

    outcome: ClassVar[str]

    def __init__(self, code: str, /, *, label: str | None = None, **arguments: Argument) -> None:
        self.reason = compose_or_quote(code, arguments)
        super().__init__(self.reason)
        self.label = label
        # Any, not Usage: types.py imports this module
        self.usage: Any = None
        """Usage of failed calls to a judge, if any were made."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_unscored, (type(self), self.args), self.__dict__


def _restore_unscored(kind: type[Unscored], args: tuple[Any, ...]) -> Unscored:
    """Unpickle one that a worker sent: its arguments are the finished sentence, not those of its class."""
    return kind.__new__(kind, *args)


class NotApplicable(Unscored):
    """Nothing to judge: no claims, no markers, no relevant document."""

    outcome = "not_applicable"


class MissingField(Unscored):
    """The sample lacks a field the metric needs."""

    outcome = "missing_field"


class JudgeFailed(Unscored):
    """The judge gave no usable reply."""

    outcome = "judge_error"

    def __init__(
        self, kind: JudgeFault, code: str, /, *, label: str | None = None, **arguments: Argument
    ) -> None:
        super().__init__(code, label=label, **arguments)
        self.kind: JudgeFault = kind


class SystemFailed(Unscored):
    """The system under test gave nothing to judge."""

    outcome = "system_error"


class OutOfBudget(Unscored):
    """The call was not made because the budget is spent."""

    outcome = "skipped_budget"


def suggest_nearest(word: str, known: Sequence[str]) -> str:
    """Format `; did you mean 'x'?` for the closest known word, else the list of known words."""
    from difflib import get_close_matches  # slow to import and only needed for an error

    close = get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known: {', '.join(sorted(known))}" if known else ""
