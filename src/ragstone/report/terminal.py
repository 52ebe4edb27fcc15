"""Results on a terminal: a screenful, or with the details all there is room for, in its width and characters."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragstone.report.amounts import format_signed
from ragstone.report.figures import describe_cascade, describe_correction, name_store
from ragstone.report.remarks import Remark, Severity, choose_arrow, shorten, shorten_middle
from ragstone.types import NO_USAGE

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from ragstone.analysis import MetricSummary
    from ragstone.analysis.effects import Effects, Level
    from ragstone.analysis.league import LeagueColumn
    from ragstone.monitor.alerts.evaluation import MonitorStatus
    from ragstone.report.pages import Page
    from ragstone.report.pages.card import CardPage, VersionPage
    from ragstone.report.pages.checkup import CheckupPage
    from ragstone.report.pages.comparison import ComparisonPage, VersusView
    from ragstone.report.pages.effects import EffectsPage
    from ragstone.report.pages.failures import ExampleView, FailurePage
    from ragstone.report.pages.judge_attack import JudgeAttackPage
    from ragstone.report.pages.judge_measure import JudgeMeasurePage
    from ragstone.report.pages.run import ClaimView, RunPage
    from ragstone.report.pages.tuning import SearchView, TuningPage
    from ragstone.report.translator import Translator
    from ragstone.report.view.trend import TrendView

COLOURS: dict[Severity, str] = {
    "": "",
    "good": "green",
    "bad": "bold red",
    "warn": "yellow",
    "plain": "dim",
}
SIGNS = {"good": "✓", "bad": "✗", "warn": "?"}
COLUMN_GAP = 3
EFFECT_WIDTH = 15
"""Characters of a column that shows what a setting does to a metric."""
"""Blanks between two columns."""
MIN_NAME = 12
"""Letters that a name keeps however narrow the terminal is."""
MIN_WRAPPED = 18
"""Columns under which a text at the end of a row goes below the table instead."""
WIDE_COLUMNS, VERY_WIDE_COLUMNS = 100, 118
"""Columns from which deviation and median are shown; and from which an interval is drawn."""
MAX_CLAIMS = 3
"""Claims on the first screen."""
BAD_ROWS = 3
MAX_PAIRS = 3
"""Samples shown each way of two runs."""
MAX_WRONG = 5

ASCII_SIGNS = str.maketrans(
    {
        "↑": "^",
        "↓": "v",
        "✓": "+",
        "✗": "x",
        "–": "-",
        "…": ".",
        "×": "x",
        "·": "-",
        "÷": "/",
        "━": "=",
        "┿": "|",
        "\u202f": " ",
        "\xa0": " ",
        "“": '"',
        "”": '"',
        "’": "'",
        "°": " ",
        "★": "*",
        "≈": "~",
        "±": "+-",
        "−": "-",
        "→": ">",
        "≤": "<=",
    }
)
"""What stands for a sign where the terminal cannot write it."""

Cell = str | tuple[str, str]
"""A text, or one with a style of rich."""


def print_page(page: Page, console: Console, *, details: bool = False) -> None:
    """Print a result: its first screen, or all that a terminal can show."""
    PRINTERS[page.template](page, Screen(console, details=details))


def render(page: Page, width: int = 100, *, details: bool = False) -> str:
    """The same as plain text."""
    import io

    from rich.console import Console

    out = io.StringIO()
    # in a notebook rich would else display the text below the cell, whatever its file is
    console = Console(
        file=out, width=width, force_terminal=False, force_jupyter=False, color_system=None
    )
    print_page(page, console, details=details)
    return out.getvalue()


# ── a console that never gets a character it cannot write ─────────────────────────────────


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    head: str
    numeric: bool = False
    wraps: bool = False
    """Whether it takes what room is left, on several lines if need be; of texts at the end of a row."""


def numbers(*heads: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(head, numeric=True) for head in heads]


class Screen:
    """A console that never gets a character it cannot write, and one free line at most between two parts."""

    def __init__(self, console: Console, *, details: bool = False) -> None:
        self.console = console
        self.width = console.width
        self.details = details
        self._has_printed = False
        self._needs_gap = False

    def gap(self) -> None:
        """Leave a free line before what is printed next; none before the first line."""
        self._needs_gap = self._has_printed

    def line(self, content: str, style: str = "", indent: int = 0) -> None:
        """Print a paragraph, if there is anything to print."""
        if not content:
            return
        self._leave_gap()
        text = self._build_text(content, style)
        if not indent:
            self.console.print(text, highlight=False)
            return
        for part in text.wrap(self.console, max(self.width - indent, 1)):
            part.rstrip()
            self.console.print(self._build_text(" " * indent) + part, highlight=False)

    def remark(self, remark: Remark, indent: int = 0) -> None:
        """Print a sentence in the colour of how it is to be taken."""
        self.line(remark.text.replace("`", ""), COLOURS[remark.severity], indent)

    def heading(self, content: str) -> None:
        """Print a heading under a free line."""
        self.gap()
        self.line(content, "bold")

    def command(self, content: str, indent: int = 2) -> None:
        """Print a command that can be copied: the terminal wraps it, no line break of ours is in it."""
        self._leave_gap()
        text = self._build_text(f"{' ' * indent}$ {content}", "cyan")
        self.console.print(text, highlight=False, soft_wrap=True)

    def table(
        self, columns: Sequence[Column], rows: Sequence[Sequence[Cell]], total: bool = False
    ) -> None:
        """Print a table within the width: heads of numbers go on several lines first, then names lose their middle.

        With `total` the last row is a sum."""
        from rich import box
        from rich.table import Table

        if not rows:
            return
        self._leave_gap()
        texts = [[cell if isinstance(cell, str) else cell[0] for cell in row] for row in rows]
        widths = [
            max((len(line) for row in texts for line in row[n].split("\n")), default=0)
            for n in range(len(columns))
        ]
        heads = self._fit_heads(columns, widths)
        taken = [
            max(width, *map(len, head.split("\n")))
            for head, width in zip(heads, widths, strict=True)
        ]
        gap = COLUMN_GAP
        if sum(taken) + gap * (len(columns) - 1) > self.width:
            gap -= 1
        excess = sum(taken) + gap * (len(columns) - 1) - self.width
        if columns[-1].wraps and excess > 0:
            room = max(taken[-1] - excess, min(MIN_WRAPPED, taken[-1]))
            excess -= taken[-1] - room
        for n, column in enumerate(columns):
            # the names of the rows and of what they are about, the widest of them first
            if excess > 0 and not column.numeric and not column.wraps and taken[n] > MIN_NAME:
                room = max(taken[n] - excess, MIN_NAME)
                excess -= taken[n] - room
                for row in texts:
                    row[n] = shorten_middle(row[n], room) if len(row[n]) > room else row[n]
        # a blank stands between two columns of this box, whatever the padding
        grid = Table(
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            show_edge=False,
            header_style="bold",
            padding=(0, 1 if gap == COLUMN_GAP else 0, 0, 1),
        )
        for column, head in zip(columns, heads, strict=True):
            grid.add_column(
                self._build_text(head),
                justify="right" if column.numeric else "left",
                overflow="fold",
                no_wrap=not column.wraps,
            )
        for number, (cells, shown) in enumerate(zip(rows, texts, strict=True)):
            base = "bold" if total and number == len(rows) - 1 else ""
            styles = [base if isinstance(cell, str) else cell[1] or base for cell in cells]
            grid.add_row(
                *(self._build_text(text, style) for text, style in zip(shown, styles, strict=True))
            )
        self.console.print(grid, highlight=False)

    def _fit_heads(self, columns: Sequence[Column], widths: Sequence[int]) -> list[str]:
        """The heads; in a table too wide for the screen those of numbers get several lines."""
        needed = sum(max(len(c.head), w) + COLUMN_GAP for c, w in zip(columns, widths, strict=True))
        if needed - COLUMN_GAP <= self.width:
            return [column.head for column in columns]
        return [
            textwrap.fill(
                column.head, max(width, *map(len, column.head.split())), break_long_words=False
            )
            if column.numeric and column.head
            else column.head
            for column, width in zip(columns, widths, strict=True)
        ]

    def _leave_gap(self) -> None:
        if self._needs_gap:
            self.console.print()
        self._has_printed, self._needs_gap = True, False

    def _build_text(self, content: str, style: str = "") -> Text:
        """Styled text; nothing in it is taken for markup or a control sequence."""
        from rich.text import Text

        return Text(fit_encoding(content, self.console.encoding), style=style)


def fit_encoding(content: str, encoding: str) -> str:
    """The text without control characters, in characters that the encoding has."""
    # Category C holds escape and format characters: an answer must not move the cursor or change
    # the window's title.
    visible = "".join(c if c == "\n" or unicodedata.category(c)[0] != "C" else " " for c in content)
    try:
        visible.encode(encoding)
    except UnicodeEncodeError:
        # On such a terminal accents are lost rather than shown as question marks.
        plain = unicodedata.normalize("NFKD", visible.translate(ASCII_SIGNS))
        bare = "".join(c for c in plain if not unicodedata.combining(c))
        return bare.encode(encoding, "replace").decode(encoding)
    return visible


def print_next(commands: Sequence[tuple[str, str]], screen: Screen) -> None:
    """What to do next: commands, with the details each under the reason to run it."""
    screen.gap()
    for command, reason in commands:
        if screen.details:
            screen.line(reason, "dim", 2)
        screen.command(command)


# ── a run ─────────────────────────────────────────────────────────────────────────────────


def print_run(page: RunPage, screen: Screen) -> None:
    """The verdict, the table, refusals and gates in a line each, the worst claims, what to do next."""
    t, summary = page.t, page.summary
    if screen.details or not page.is_opened:
        screen.line(page.title, "bold")
        screen.line(" · ".join(page.facts), "dim")
        screen.gap()
    screen.line(page.verdict, "bold")
    screen.line(page.judging, "dim")
    if page.is_unfinished:
        screen.line(t("unfinished"), "yellow")
    screen.gap()
    _print_metrics(page, screen)
    screen.gap()
    for metric, rates in page.labels:
        counted = [
            t("counted_label", n=t.whole(row.count), label=t.translate("label", row.label))
            for row in rates
            if row.count
        ]
        screen.line(f"{page.name_labels(metric)}: {', '.join(counted)}")
    for _, remark in page.gates:
        screen.line(
            f"{SIGNS[remark.severity]} {remark.text}".replace("`", ""), COLOURS[remark.severity]
        )
    if summary.gates or page.state.severity != "good":
        screen.line(page.state.text, COLOURS[page.state.severity])
    nothing_scored = all(metric.mean is None for metric in summary.metrics)
    if screen.details or nothing_scored:
        _print_run_details(page, screen)
    else:
        _print_run_counts(page, screen)
    _print_claims(page.claims, page, screen)
    if page.commands is not None:
        print_next([(command, t(f"next.{key}")) for key, command in page.commands], screen)
    elif page.full_report:
        print_next([(page.full_report, t("next.report"))], screen)


def _print_metrics(page: RunPage, screen: Screen) -> None:
    t = page.t
    is_wide, is_very_wide = screen.width >= WIDE_COLUMNS, screen.width >= VERY_WIDE_COLUMNS
    columns = [Column(t("metric")), *numbers(t("mean"), t("interval_short"))]
    columns += [Column("")] if is_very_wide else []
    columns += numbers(t("sd"), t("median")) if is_wide else []
    columns += numbers(t("coverage_short"))
    rows = []
    for m in page.summary.metrics:
        name = f"{m.metric} {choose_arrow(m.higher_is_better)}"
        # an incomplete mean is in brackets, so that nobody reads it as a finished figure
        row: list[Cell] = [
            name if m.complete else (f"{name} ({t('incomplete')})", "yellow"),
            (t.number(m.mean), "bold") if m.complete else (f"({t.number(m.mean)})", "dim"),
            t.interval(m.low, m.high),
        ]
        row += [(_draw_interval(m), "cyan" if m.complete else "")] if is_very_wide else []
        row += [t.number(m.sd), t.number(m.median)] if is_wide else []
        rows.append([*row, " / ".join(t.whole(n) for n in (m.scored, m.applicable, m.total))])
    screen.table(columns, rows)


def _draw_interval(metric: MetricSummary, width: int = 20) -> str:
    """The interval on the metric's scale, in characters."""
    if metric.bounds is None or metric.mean is None or metric.low is None or metric.high is None:
        return ""
    first, last = metric.bounds
    low, mean, high = (
        min(max(round((value - first) / (last - first) * (width - 1)), 0), width - 1)
        for value in (metric.low, metric.mean, metric.high)
    )
    # The mean is drawn last, over the interval, for both may fall on the same character.
    marks = ["━" if low <= place <= high else "·" for place in range(width)]
    marks[mean] = "┿"
    return "".join(marks)


def _print_run_counts(page: RunPage, screen: Screen) -> None:
    """One line each for what the details explain."""
    t, summary = page.t, page.summary
    for metric in summary.metrics:
        doubts = [r for r in describe_cascade(metric, t) if r.severity == "warn"]
        for remark in (*doubts, *describe_correction(metric.corrected, "corrected_mean", t)):
            screen.line(f"{metric.metric}: {remark.text}", COLOURS[remark.severity])
    # that a metric does not apply to a sample is no fault
    unscored = sum(
        n
        for metric in summary.metrics
        for outcome, n in metric.outcomes.items()
        if outcome != "not_applicable"
    )
    warnings = sum(len(metric.warnings) for metric in summary.metrics)
    counts = {"scores_missing": unscored, "warnings_counted": warnings}
    parts = [t(key, n=t.whole(n)) for key, n in counts.items() if n]
    if parts:
        text = t("details_say", parts=", ".join(parts))
        screen.line(text[:1].upper() + text[1:], "dim")
    if page.skipped:
        others = summary.run.bad_count - 1
        more = f" ({t('and_more', n=t.whole(others))})" if others else ""
        screen.line(f"{page.skipped[0]} {page.skipped[1]}{more}", "yellow")
    if summary.usage.usd:
        usage = summary.usage
        screen.line(t("usage_counted", calls=t.whole(usage.calls), usd=t.money(usage.usd)), "dim")


def _print_run_details(page: RunPage, screen: Screen) -> None:
    """Why scores are missing, what judging took and what the judge is worth."""
    t, summary = page.t, page.summary
    alike: dict[tuple[Remark, ...], list[str]] = {}
    for metric in summary.metrics:
        if remarks := page.describe_metric(metric):
            alike.setdefault(tuple(remarks), []).append(metric.metric)
    for lines, names in alike.items():
        screen.heading(", ".join(names))
        for remark in lines:
            screen.remark(remark, 2)
    if any(metric.usage != NO_USAGE for metric in summary.metrics):
        screen.gap()
        columns = [
            Column(t("usage")),
            *numbers(t("calls"), t("hits"), t("input_tokens"), t("output_tokens"), t("usd")),
        ]
        spent = [*((m.metric, m.usage) for m in page.used), (t("sum"), summary.usage)]
        rows = [
            [
                name,
                *map(t.whole, (u.calls, u.hits, u.input_tokens, u.output_tokens)),
                t.money(u.usd),
            ]
            for name, u in spent
        ]
        screen.table(columns, rows, total=True)
    screen.gap()
    for number, line in enumerate(page.judge_lines):
        screen.line(line.replace("`", ""), "dim", 2 if number else 0)
    screen.gap()
    for number, line in enumerate(page.skipped[: BAD_ROWS + 1]):
        screen.line(line, "" if number else "yellow", 2 if number else 0)


def _print_claims(claims: Sequence[ClaimView], page: RunPage, screen: Screen) -> None:
    # the same text of another sample tells nothing new
    distinct = {claim.text: claim for claim in reversed(claims)}
    shown = claims if screen.details else [*reversed(distinct.values())][:MAX_CLAIMS]
    if not shown:
        return
    screen.heading(page.t.count("worst_claims", len(shown)))
    for claim in shown:
        # on the first screen a line for what was found, and two for the text that decides it
        cuts = (2, 1, 2) if not screen.details else (99, 99, 99)
        text = shorten(claim.text, cuts[0] * (screen.width - 2) - 20)
        screen.line(f"{claim.id}  {text}" if claim.id else text, COLOURS[claim.severity], 2)
        for line, most in zip(claim.lines, cuts[1:], strict=False):
            if screen.details or line != page.t("no_source"):
                screen.line(shorten(line, most * (screen.width - 4)), "dim", 4)


# ── comparisons ───────────────────────────────────────────────────────────────────────────


def print_comparison(page: ComparisonPage, screen: Screen) -> None:
    """What to do or what is shown, one table, how many samples moved, and where to look."""
    t = page.t
    if page.league is not None or page.search is not None:
        _print_choice(page, screen)
    if page.league is None or screen.details:
        for number, versus in enumerate(page.told):
            if number or screen.details or page.search is not None:
                screen.heading(versus.title)
            _print_versus(versus, screen)
    elif len(page.versus) == 1:
        screen.line(_count_moved(page.versus[0]))
    if screen.details:
        _print_preferences(page, screen)
        _print_judging(page, screen)
        screen.gap()
        screen.line(page.front)
        screen.line(page.method, "dim")
        screen.gap()
        screen.line(page.state.text, COLOURS[page.state.severity])
    else:
        _print_preferences(page, screen)
        if page.comparison.regressions or page.league is None:
            screen.line(page.state.text, COLOURS[page.state.severity])
        if page.next_command:
            print_next([(page.next_command, t("next.details"))], screen)


def _print_choice(page: ComparisonPage, screen: Screen) -> None:
    """Which configuration to choose, and all of them side by side."""
    t = page.t
    for remark in page.advice:
        screen.remark(remark)
    screen.gap()
    if page.league is not None and (screen.details or page.search is None):
        _print_league(page, screen)
        screen.line(page.alike)
        screen.line(page.league_note if screen.details else t("league.marks"), "dim")
    if page.search is not None:
        screen.heading(t("tuned.trials"))
        _print_trials(page.search, t, screen)


def _print_league(page: ComparisonPage, screen: Screen) -> None:
    """The table in as many parts as the width makes necessary; with intervals where there is room."""
    t, league = page.t, page.league
    assert league is not None
    # of those that `alike` names one row is enough
    same = {v.run.id for v in page.comparison.versus if v.same_answers and page.alike}
    runs = [run for run in league.names if run not in same or screen.details]
    names = [page.name(league.names[run]) for run in runs]
    room = screen.width - min(max(map(len, [*names, t("configuration")]), default=0), 32)
    with_intervals = screen.details or room >= 24 * len(league.columns)
    parts: list[list[LeagueColumn]] = [[]]
    taken = 0
    for column in league.columns:
        width = COLUMN_GAP + max(
            20 if with_intervals else 7, max(map(len, _head_column(page, column).split("\n")))
        )
        if parts[-1] and taken + width > room:
            parts.append([])
            taken = 0
        parts[-1].append(column)
        taken += width
    for part in parts:
        screen.gap()
        heads = [
            Column(t("configuration")),
            *numbers(*(_head_column(page, column) for column in part)),
        ]
        rows = []
        for run, name in zip(runs, names, strict=True):
            row: list[Cell] = [name]
            for column in part:
                cell = column.cells[run]
                mark = "" if cell.best or cell.tied else "  "
                interval = f" {t.interval(cell.low, cell.high)}" if with_intervals else ""
                row.append((f"{page.mark(cell)}{mark}{interval}", "green" if cell.best else ""))
            rows.append(row)
        screen.table(heads, rows)


def _head_column(page: ComparisonPage, column: LeagueColumn) -> str:
    """A metric on as many lines as its words, where it is long."""
    name = column.metric.replace("_", "_\n") if len(column.metric) > 12 else column.metric
    return f"{name} {choose_arrow(column.higher_is_better)}{page.name_unit(column)}"


def _print_versus(versus: VersusView, screen: Screen) -> None:
    page, t = versus.page, versus.page.t
    for remark in versus.gist if screen.details else versus.gist[:3]:
        screen.remark(remark)
    for remark in versus.pairing:
        if screen.details or remark.severity in ("warn", "bad"):
            screen.remark(remark)
    screen.gap()
    has_p = screen.details or screen.width >= WIDE_COLUMNS
    has_room = screen.width >= VERY_WIDE_COLUMNS
    columns = [
        Column(t("metric")),
        *numbers(t("before"), t("after"), t("difference"), t("interval_short")),
    ]
    if has_p:
        columns += numbers(t(f"p_corrected.{page.comparison.correction}"))
    if has_room or not screen.details:
        columns.append(Column(t("verdict"), wraps=has_room))
    same = {d.metric for d in versus.versus.differences if d.verdict == "identical"}
    rows = []
    for row in versus.rows:
        if row.metric in same and not screen.details:
            continue
        colour = COLOURS[row.severity]
        cells: list[Cell] = [
            f"{row.metric} {row.arrow}",
            row.before,
            row.after,
            (row.change, colour or "bold"),
            row.interval,
        ]
        cells += [row.p] if has_p else []
        if has_room or not screen.details:
            cells.append((row.verdict.text if has_room else row.word, colour))
        rows.append(cells)
    if rows:
        screen.table(columns, rows)
    if not screen.details:
        if same:
            screen.line(t("same_everywhere", metrics=", ".join(sorted(same))), "dim")
        for difference in versus.versus.differences:
            for remark in describe_correction(difference.corrected, "corrected_difference", t):
                screen.line(f"{difference.metric}: {remark.text}", COLOURS[remark.severity])
        screen.line(_count_moved(versus))
        return
    for row in versus.rows if not has_room else ():
        screen.line(f"{row.metric}: {row.verdict.text}", COLOURS[row.severity])
    for text in versus.percentiles:
        screen.line(text)
    _print_alike(versus.remarks, screen)
    for moved in versus.moved:
        screen.heading(f"{t(moved.key)}: {versus.count(moved, MAX_PAIRS)}")
        for pair in moved.pairs[:MAX_PAIRS]:
            screen.line(f"{pair.id}  {shorten(pair.question, 100)}", "", 2)
            screen.line(", ".join(f"{name} {change}" for name, change in pair.scores[:4]), "dim", 4)
            for sign, side in (("−", pair.before), ("+", pair.after)):
                screen.line(
                    f"{sign} {shorten(side.error or side.answer or t('no_answer'), 160)}", "dim", 4
                )


def _count_moved(versus: VersusView) -> str:
    t = versus.page.t
    return "  ".join(f"{t(moved.key)}: {t.whole(moved.total)}." for moved in versus.moved)


def _print_alike(remarks: Sequence[tuple[str, Remark]], screen: Screen) -> None:
    """Remarks on metrics, under one heading for all that have the same."""
    by_name: dict[str, list[Remark]] = {}
    for name, remark in remarks:
        by_name.setdefault(name, []).append(remark)
    alike: dict[tuple[Remark, ...], list[str]] = {}
    for name, lines in by_name.items():
        alike.setdefault(tuple(lines), []).append(name)
    for shared, names in alike.items():
        screen.heading(", ".join(names))
        for remark in shared:
            screen.remark(remark, 2)


def _print_preferences(page: ComparisonPage, screen: Screen) -> None:
    view, t = page.preferred, page.t
    if view is None:
        return
    screen.heading(t("preferences"))
    columns = [
        Column(t("preference_pair")),
        *numbers(
            t("preference_rate"),
            t("interval_short"),
            t("preference_wins"),
            t("preference_ties"),
            t("preference_losses"),
        ),
        Column(t("verdict")),
    ]
    screen.table(columns, view.rows)
    for remark in view.remarks:
        screen.remark(remark)
    if view.ranking:
        screen.heading(t("preference_ranking"))
        screen.table(
            [
                Column(t("run")),
                *numbers(t("preference_chance"), t("interval_short"), t("preference_strength")),
            ],
            view.ranking,
        )
        if screen.details:
            screen.line(t("preference_ranking_note"), "dim")
    if screen.details:
        screen.line(view.note, "dim")


def _print_judging(page: ComparisonPage, screen: Screen) -> None:
    t = page.t
    if not page.judging:
        return
    screen.gap()
    rows = [
        [
            page.name(info.name),
            t.whole(info.usage.calls),
            t.whole(info.usage.input_tokens),
            t.whole(info.usage.output_tokens),
            t.money(info.usage.usd),
        ]
        for info in page.judging
    ]
    screen.table(
        [
            Column(t("judging")),
            *numbers(t("calls"), t("input_tokens"), t("output_tokens"), t("usd")),
        ],
        rows,
    )


def print_tuning(page: TuningPage, screen: Screen) -> None:
    """A search that found nothing better."""
    for remark in page.search.describe(page.t):
        screen.remark(remark)
    screen.gap()
    _print_trials(page.search, page.t, screen)


def _print_trials(search: SearchView, t: Translator, screen: Screen) -> None:
    most = 10 if screen.details else 5
    columns = [
        Column(t("configuration")),
        *numbers(
            t("tuned.questions"),
            t("tuned.measured"),
            t("tuned.beside"),
            t("tuned.estimate"),
            *search.against,
        ),
    ]
    columns += [Column(t("tuned.front"))] if search.against else []
    rows = []
    for trial in search.trials[:most]:
        estimate = "–" if trial.estimate is None else f"≈ {t.number(trial.estimate)}"
        row = [
            t.name_run(trial.name),
            t.whole(trial.questions),
            t.number(trial.measured),
            t.number(trial.winner_beside),
            estimate,
        ]
        row += (
            [*search.format_costs(trial, t), "★" if trial.front else ""] if search.against else []
        )
        rows.append(row)
    screen.table(columns, rows)
    screen.line(
        search.describe_effort(t, most) if screen.details else search.describe_extent(t, most),
        "dim",
    )


def print_effects(page: EffectsPage, screen: Screen) -> None:
    """What to choose, and what each setting does to each metric in one table; a table each with the details."""
    t = page.t
    if page.comparison is not None:
        for remark in page.comparison.advice:
            screen.remark(remark)
        screen.line(page.comparison.alike)
    screen.gap()
    if screen.details:
        if page.comparison is not None and page.comparison.league is not None:
            _print_league(page.comparison, screen)
            screen.line(page.comparison.league_note, "dim")
        for effects in page.effects:
            _print_effect(page, effects, screen)
        return
    by_level: dict[tuple[str, str], dict[str, Level]] = {}
    for effects in page.effects:
        for factor in effects.factors:
            for level in factor.levels:
                by_level.setdefault((factor.name, level.value), {})[effects.metric] = level
    room = screen.width - max(len(f"{name}={value}") for name, value in by_level)
    fitting = page.effects[: max(1, room // EFFECT_WIDTH)]
    rows: list[list[Cell]] = []
    for (setting, value), levels in by_level.items():
        shown = [levels.get(effects.metric) for effects in fitting]
        cells = ["–" if level is None else _format_level(level, t) for level in shown]
        rows.append([f"{setting}={value}", *cells])
    heads = numbers(*(page.name_metric(effects) for effects in fitting))
    screen.table([Column(t("setting")), *heads], rows)
    screen.line(t("effects_marks"), "dim")
    if missing := [effects.metric for effects in page.effects[len(fitting) :]]:
        screen.line(t("effects_more", metrics=", ".join(missing)), "dim")
    if page.comparison is not None and page.comparison.next_command:
        print_next([(page.comparison.next_command, t("next.details"))], screen)


def _format_level(level: Level, t: Translator) -> Cell:
    best = " ★" if level.best else ""
    if level.base:
        return t.number(level.mean) + best, "bold"
    sign = {"better": " ✓", "worse": " ✗"}.get(level.verdict, "")
    colour = {"better": "green", "worse": "bold red"}.get(level.verdict, "")
    return format_signed(level.difference, t) + sign + best, colour


def _print_effect(page: EffectsPage, effects: Effects, screen: Screen) -> None:
    t, is_wide = page.t, screen.width >= WIDE_COLUMNS + 10
    screen.heading(page.name_metric(effects))
    columns = [Column(t("setting")), Column(t("value")), *numbers(t("mean"))]
    columns += numbers(t("interval_short")) if is_wide else []
    columns += numbers(t("difference"), t("interval_short"))
    columns += numbers(t("p_corrected.bonferroni")) if is_wide else []
    rows: list[list[Cell]] = []
    for row in page.list_rows(effects):
        cells: list[Cell] = [row.setting, row.value, row.mean, *([row.interval] if is_wide else [])]
        cells += [row.difference, row.difference_interval, *([row.p] if is_wide else [])]
        rows.append([*cells, (row.verdict.text, COLOURS[row.verdict.severity])])
    screen.table([*columns, Column(t("verdict"))], rows)
    screen.line(page.describe_design(effects), "dim")


# ── failures ──────────────────────────────────────────────────────────────────────────────


def print_failures(page: FailurePage, screen: Screen) -> None:
    """The causes and what to try, or without a diagnosis the classes of failures."""
    if page.diagnoses is None:
        _print_classes(page, screen)
    else:
        _print_diagnosis(page, screen)


def _print_classes(page: FailurePage, screen: Screen) -> None:
    t = page.t
    screen.line(page.state.text, COLOURS[page.state.severity] or "bold")
    screen.gap()
    has_room = screen.width >= WIDE_COLUMNS
    columns = [Column(t("class")), *numbers(t("count"), t("rate"), t("interval_short"))]
    columns.append(Column(t("where_column"), wraps=True))
    columns += [Column(t("meaning_column"), wraps=True)] if has_room else []
    screen.table(
        columns,
        [
            [
                (row.name, COLOURS[row.severity]),
                row.count,
                row.share,
                row.interval,
                (row.where, "dim" if row.severity == "" else ""),
                *([(row.meaning, "dim")] if has_room else []),
            ]
            for row in page.classes
        ],
    )
    for remark in page.gaps:
        if screen.details or remark.severity == "warn":
            screen.remark(remark)
    if page.slices and screen.details:
        screen.heading(t("slices_worse"))
        columns = [
            Column(t("slice")),
            *numbers(
                t("samples"), t("fails"), t("interval_short"), t("rest"), t("p_corrected.holm")
            ),
            Column(t("mostly")),
        ]
        screen.table(
            columns,
            [[row.name, *row.figures, row.mostly] for row in page.slices],
        )
    if screen.details:
        screen.line(page.slices_note, "dim")
        for name, examples in page.examples:
            screen.heading(name)
            for example in examples[:2]:
                _print_example(example, screen, t)
    info = page.failures.run
    if info.place:
        store = name_store(info)
        print_next(
            [
                (f"ragstone diagnose {info.id}{store}", t("next.diagnose")),
                (page.look, t("story_look")),
            ],
            screen,
        )


def _print_example(example: ExampleView, screen: Screen, t: Translator) -> None:
    screen.line(f"{example.id}  {example.question}", "", 2)
    if example.answer:
        screen.line(f"{t('answer')}: {example.answer}", "dim", 4)
    for line in (example.values, *example.lines):
        screen.line(line, "dim", 4)


def _print_diagnosis(page: FailurePage, screen: Screen) -> None:
    """What fails, how often and where, and what to try; of the lesser symptoms only the likeliest advice, without details."""
    t = page.t
    if not page.symptoms:
        screen.remark(page.silence)
    else:
        screen.line(page.state.text, COLOURS[page.state.severity] or "bold")
        screen.gap()
        names = [
            f"{number}. {symptom.title}" + (f" ({symptom.doubt})" if symptom.doubt else "")
            for number, symptom in enumerate(page.symptoms, 1)
        ]
        rows = [[name, s.extent, s.where] for name, s in zip(names, page.symptoms, strict=True)]
        columns = [Column(t("cause_column"), wraps=True), *numbers(t("samples"))]
        screen.table([*columns, Column(t("where_column"), wraps=True)], rows)
        for name, symptom in zip(names, page.symptoms, strict=True):
            is_whole = screen.details or name == names[0]
            screen.heading(name)
            for line in symptom.evidence if screen.details else ():
                screen.line(line)
            for advice in symptom.advice if is_whole else symptom.advice[:1]:
                screen.line(f"{t('then_try')}: {advice.text}", "", 2)
                screen.line(advice.cause, "dim", 4)
                if advice.command:
                    screen.command(advice.command, 4)
    for remark in page.withheld:
        screen.remark(remark)
    if page.symptoms and page.look:
        print_next([(page.look, t("story_look"))], screen)


# ── judges ────────────────────────────────────────────────────────────────────────────────


def print_judge_measure(page: JudgeMeasurePage, screen: Screen) -> None:
    """What each judge is fit for, its figures, and some of what it gets wrong."""
    t = page.t
    screen.line(page.title, "bold")
    for remark in page.verdicts:
        screen.remark(remark)
    screen.gap()
    is_wide = screen.width >= 150
    columns = [
        Column(t("judge_says")),
        *numbers(t("items")),
        *(numbers(t("failed_items")) if is_wide else []),
    ]
    columns += numbers(
        t("balanced_accuracy"), t("interval_short"), t("kappa"), t("auroc"), t("bias")
    )
    columns += numbers(t("brier"), t("seconds_per_1000"), t("usd_per_1000")) if is_wide else []
    rows: list[list[Cell]] = []
    for row in page.rows:
        cells: list[Cell] = [
            (row.name, COLOURS[row.severity]),
            row.items,
            *([row.failed] if is_wide else []),
        ]
        cells += [row.accuracy, row.interval, row.kappa, row.auroc, row.bias]
        rows.append([*cells, *([row.brier, row.seconds, row.price] if is_wide else [])])
    screen.table(columns, rows)
    for text in page.notes:
        screen.line(text, "dim")
    if page.pairs:
        screen.heading(t("judges_paired"))
        columns = [
            Column(t("first_judge")),
            Column(t("second_judge")),
            *numbers(t("items"), t("difference"), t("interval_short"), "p"),
        ]
        screen.table(columns, page.pairs)
        screen.line(t("judges_paired_note"), "dim")
    for judge in page.measurement.judges:
        if judge.slices:
            screen.heading(t("slices_of", judge=page.name(judge)))
            columns = [
                Column(t("slice")),
                *numbers(t("items"), t("balanced_accuracy"), t("interval_short"), t("bias")),
            ]
            screen.table(columns, page.list_slices(judge))
        wrong = page.list_wrong(judge, MAX_WRONG)
        if wrong:
            screen.heading(
                f"{t('wrong_of', judge=page.name(judge))} ({page.count_wrong(judge, wrong)})"
            )
        for item in wrong:
            screen.line(item.text, "", 2)
            screen.line(item.question, "dim", 4)
            screen.line(item.subject, "", 4)
            screen.line(item.reasons, "dim", 4)


def print_judge_attack(page: JudgeAttackPage, screen: Screen) -> None:
    """How often a verdict changed, by kind of attack, and some that changed one."""
    t = page.t
    screen.line(page.title, "bold")
    for remark in page.remarks:
        screen.remark(remark)
    screen.gap()
    columns = [
        Column(t("attack_by")),
        Column(t("attack_kind")),
        *numbers(
            t("attack_count"),
            t("attack_changed"),
            t("attack_share"),
            t("interval_short"),
            t("attack_wins"),
            t("attack_named"),
        ),
    ]
    screen.table(columns, page.rows)
    if page.changed:
        screen.heading(t("attack_changed_list"))
    for item in page.changed[:MAX_WRONG]:
        screen.line(f"{item.id}  {item.effect}", "", 2)
        for line in item.lines:
            screen.line(line, "", 4)
        screen.line(item.text, "dim", 4)
    screen.gap()
    screen.line(t("attack_note"), "dim")


# ── test sets ─────────────────────────────────────────────────────────────────────────────


def print_checkup(page: CheckupPage, screen: Screen) -> None:
    """The parts of the check-up, and what it comes to at the end."""
    t = page.t
    screen.line(page.title, "bold")
    screen.line(page.size)
    screen.heading(t("checkup.balance"))
    screen.table([Column(""), Column(""), *numbers(t("count"), t("checkup.share"))], page.balance)
    _print_list(t("checkup.coverage"), page.coverage, screen)
    screen.heading(t("checkup.faults"))
    _print_groups(page.faults, "yellow", screen)
    if not page.faults:
        screen.line(t("checkup.faults.none"), "", 2)
    screen.line(page.fixes.replace("`", ""), "", 2)
    if page.hints:
        screen.heading(t("checkup.hints"))
        _print_groups(page.hints, "", screen)
    for key, texts in page.sections:
        _print_list(t(f"checkup.{key}"), texts, screen)
    screen.gap()
    screen.line(page.verdict.text, COLOURS[page.verdict.severity])


def print_card(page: CardPage, screen: Screen) -> None:
    """Where the items come from, how much people have read, and what is weak."""
    t = page.t
    screen.line(page.title, "bold")
    screen.line(page.size)
    screen.heading(t("card.origin"))
    screen.table([Column(""), Column(""), *numbers(t("count"), t("checkup.share"))], page.rows)
    _print_list(t("card.read"), page.reading, screen)
    _print_list(t("card.weak"), page.weaknesses, screen)


def print_versions(page: VersionPage, screen: Screen) -> None:
    """What was changed, added and removed."""
    screen.line(page.title, "bold")
    screen.line(page.size)
    screen.line(page.advice)
    for key, items in page.lists:
        _print_list(page.t(f"versions.{key}"), items, screen)


def _print_list(title: str, texts: Sequence[str], screen: Screen) -> None:
    screen.heading(title)
    for text in texts:
        screen.line(text.replace("`", ""), "", 2)


def _print_groups(groups: Sequence[tuple[str, Sequence[str]]], style: str, screen: Screen) -> None:
    for head, items in groups:
        screen.line(head, style, 2)
        for item in items:
            screen.line(item, "dim", 4)


# ── runs over time, and live traffic ────────────────────────────────────────────────────────────────────────


def print_trend(view: TrendView, console: Console) -> None:
    """A metric in the runs of a data set, newest first."""
    t, screen = view.t, Screen(console)
    screen.line(view.title, "bold")
    screen.line(view.note, "dim")
    columns = [
        Column(t("run")),
        Column(t("view.date")),
        *numbers(t("mean"), t("interval_short"), t("scored")),
    ]
    rows: list[list[Cell]] = [
        [
            row.name,
            row.created,
            row.mean,
            row.interval,
            row.scored,
            (row.verdict.text, COLOURS[row.verdict.severity]),
        ]
        for row in view.rows
    ]
    screen.table([*columns, Column(t("view.against_before"), wraps=True)], rows)


def print_status(
    status: MonitorStatus, t: Translator, console: Console, *, details: bool = False
) -> None:
    """How a live system stands: a sentence, a table of what needs attention, the open alerts."""
    from ragstone.monitor.alert_text import format_alert, name_alert_state
    from ragstone.monitor.alerts.basis_text import describe_basis, describe_value_change
    from ragstone.report.monitor.alerts import view_alert
    from ragstone.report.monitor.cards import build_whole_state

    screen = Screen(console, details=details)
    screen.remark(build_whole_state(status.state, t))
    screen.gap()
    # A field may have hundreds of values: only slices that need attention are listed.
    streams = [s for s in status.streams if not s.field or s.state not in ("ok", "learning")]
    rows = [
        [
            shorten(
                stream.metric + (f"  {stream.field}={stream.value}" if stream.field else ""), 60
            ),
            name_alert_state(stream.state, t.language),
            t.number(stream.mean),
            t.number(stream.reference),
            t.percent(stream.evidence, 0),
        ]
        for stream in streams
    ]
    screen.table(
        [
            Column(t("metric")),
            Column(t("state")),
            *numbers("24 h", t("reference_mean"), t("evidence")),
        ],
        rows,
    )
    if details:
        for stream in streams:
            if stream.reference_us is not None:
                screen.line(describe_basis(stream, t.language), "dim", 2)
    for stream in status.streams:
        if not stream.field and (text := describe_value_change(stream, t.language)):
            screen.line(text, "dim", 2)
    for facts in status.waiting:
        screen.line(format_alert(facts, t.language), "dim", 2)
    for alert in status.open:
        if alert.state == "pending":
            continue
        view = view_alert(alert, status.at, t)
        screen.heading(f"{view.state}  {view.title}  ({alert.id[:8]})")
        for example in view.examples:
            screen.line(f"• {example.id}: {example.question}", "", 2)
        for _, causes in view.symptoms[:1]:
            for _, advice in causes:
                screen.line(f"→ {advice}", "", 2)
        for text in view.handling:
            screen.line(text, "", 2)


def print_part(title: str, texts: Sequence[str], console: Console) -> None:
    """A heading over sentences, between two results of one command."""
    screen = Screen(console)
    screen.console.print()
    screen.line(title, "bold")
    for text in texts:
        screen.line(text)
    screen.console.print()


PRINTERS: dict[str, Callable[[Any, Screen], None]] = {
    "run": print_run,
    "comparison": print_comparison,
    "tuning": print_tuning,
    "effects": print_effects,
    "failures": print_failures,
    "judge_measure": print_judge_measure,
    "judge_attack": print_judge_attack,
    "checkup": print_checkup,
    "card": print_card,
    "versions": print_versions,
}
"""Template of a page → what prints it."""
