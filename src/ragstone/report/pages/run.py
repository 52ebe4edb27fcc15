"""A run: the verdict in a sentence or two, its figures, the worst claims, and its samples, worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.analysis import label_rates
from ragstone.analysis.headline import FaultyClaim, Headline, find_headline
from ragstone.analysis.scales import find_scales
from ragstone.report import figures
from ragstone.report.cards import Card
from ragstone.report.drawing.shapes import WIDE, Drawing, stack_drawings
from ragstone.report.figures import describe_judge
from ragstone.report.ledger import choose_severity
from ragstone.report.pages import Page
from ragstone.report.pages.failures import describe_unmatched
from ragstone.report.remarks import Remark, Severity, choose_arrow, shorten
from ragstone.report.slices import describe_slice
from ragstone.report.translator import Translator
from ragstone.text.content import find_closest_sentence
from ragstone.text.language import identify_sample_language, is_measured_language
from ragstone.types import NO_USAGE, OUTCOMES

if TYPE_CHECKING:
    from ragstone.analysis import LabelRate, MetricSummary, Summary
    from ragstone.analysis.classes import FailureClass
    from ragstone.analysis.failures import Failures
    from ragstone.experiments.run import Run
    from ragstone.report.samples import OpenSample, SampleList
    from ragstone.store import StoredRow, StoredRun
    from ragstone.types import Finding, Sample

FIT_AUROC = 0.7
"""Agreement with people under which a mean of the embedded judge gets a mark."""
PROBED_ROWS = 20
"""Samples that tell the language of a run."""
MAX_CAUSES = 3
CLAIM_CHARS, QUOTE_CHARS = 200, 300
EMBEDDED = "offline "
"""How the name of the embedded judge begins; its version follows."""
MAX_LISTED_SAMPLES = 20_000
"""Samples beyond the worst that are tried; the room of a page ends before."""
STRETCH_SAMPLES = 512
WORST_IN_TEXT = 10
"""Samples listed in a text; a page has the rest."""


@dataclass(frozen=True, slots=True)
class ClaimView:
    """A claim with what decides it."""

    id: str
    text: str
    severity: Severity
    lines: tuple[str, ...]


@dataclass(frozen=True)
class RunPage(Page):
    """A run and what its scores add up to."""

    kind: ClassVar[str] = "run"
    template: ClassVar[str] = "run"
    skip_link: ClassVar[str] = "samples"
    run: StoredRun
    summary: Summary
    commands: Sequence[tuple[str, str]] | None = None
    """What to do next, each command with the key of the reason; None for the one that writes the full report."""
    is_opened: bool = True
    """Whether the scores are read once more for the sentences and the worst claims."""
    explain: bool = False
    """Whether exported rows have the findings behind each score."""
    result: Run | None = None
    """The run as its maker holds it, which reads its headline once."""
    raw: bool = False
    """Whether cells of CSV that a spreadsheet would execute are written as they are."""

    @property
    def title(self) -> str:
        """The run's name."""
        return shorten(self.summary.run.name or self.summary.run.id, 200)

    @property
    def brand(self) -> str:
        """What sort of report it is."""
        return self.t("report")

    # ── sentences ─────────────────────────────────────────────────────────────────────────

    @cached_property
    def headline(self) -> Headline:
        """What the run is opened with."""
        if self.result is not None:
            return self.result.headline()
        return find_headline(self.run, self.summary)

    @cached_property
    def _language(self) -> str:
        return _identify_run_language(self.run)

    @cached_property
    def _weakness(self) -> str:
        return _find_weakness(self.headline.metric, self.run, self._language, self.t)

    @cached_property
    def verdict(self) -> str:
        """The verdict on the run; empty where it is not opened."""
        if not self.is_opened:
            return ""
        return " ".join(filter(None, _describe_verdict(self.headline, self._weakness, self.t)))

    @cached_property
    def judging(self) -> str:
        """Who judged where nobody chose a judge, and whether it is to be believed."""
        if not self.is_opened:
            return ""
        judged = _describe_judging(self.summary, self._language, self.t)
        return " ".join(filter(None, (judged, self._weakness)))

    @cached_property
    def claims(self) -> list[ClaimView]:
        """The worst claims, each with the text that decides it, or the sentence that comes closest."""
        claims = self.headline.claims if self.is_opened else ()
        return [view_claim(claim, self.run.row(claim.position), self.t) for claim in claims]

    @property
    def facts(self) -> list[str]:
        """Where the samples came from, how many there are and who judged."""
        return figures.list_run_facts(self.summary, self.t)

    @property
    def created(self) -> str:
        """When it was made."""
        return figures.format_moment(self.summary.run.created)

    @property
    def state(self) -> Remark:
        """The run in one line."""
        return figures.describe_run(self.summary, self.t)

    @property
    def is_unfinished(self) -> bool:
        """Whether samples may still come."""
        return self.summary.run.status == "running"

    def describe_metric(self, metric: MetricSummary) -> list[Remark]:
        """Why samples were not scored, what that does to the mean, and what to beware of."""
        return figures.describe_metric(metric, self.summary.floor, self.t)

    @cached_property
    def remarks(self) -> list[tuple[str, Remark]]:
        """The same of all metrics, each remark with the metric's name."""
        return [
            (m.metric, remark) for m in self.summary.metrics for remark in self.describe_metric(m)
        ]

    @cached_property
    def gates(self) -> list[tuple[str, Remark]]:
        """The state of each gate in a word, and what it asked for and got; then what to beware of."""
        t, summary = self.t, self.summary
        items = [
            (figures.name_gate_state(gate, t), figures.describe_gate(gate, t))
            for gate in summary.gates
        ]
        unfit = figures.describe_unfit_gates(summary.unfit_gates, summary.run.judge, t)
        outdated = figures.describe_outdated_gates(summary.outdated_gates, t)
        return [
            *items,
            *((t("gate.unfit"), remark) for remark in unfit),
            *((t("gate.outdated"), remark) for remark in outdated),
        ]

    @property
    def judge_lines(self) -> list[str]:
        """How far the embedded judge agrees with people on each metric."""
        return describe_judge(self.summary, self.t)

    @property
    def skipped(self) -> list[str]:
        """Rows of the data that could not be read: how many, then some of them."""
        info = self.summary.run
        if not info.bad_count:
            return []
        lines = [shorten(row, 300) for row in info.bad]
        if info.bad_count > len(lines):
            lines.append(self.t("and_more", n=self.t.whole(info.bad_count - len(lines))))
        return [self.t.count("skipped", info.bad_count), *lines]

    @property
    def command(self) -> str:
        """The command that does the run again."""
        return figures.build_command(self.summary.run)

    @property
    def full_report(self) -> str:
        """The command that writes the full report; empty for a run that is not kept."""
        info = self.summary.run
        return (
            f"ragstone report {info.id}{figures.name_store(info)} -o report.html"
            if info.place
            else ""
        )

    # ── figures ───────────────────────────────────────────────────────────────────────────

    @property
    def cards(self) -> list[Card]:
        """Each metric at a glance."""
        meanings = figures.translate_meanings(self.summary.run, self.t)
        return [self._build_card(m, meanings.get(m.metric, "")) for m in self.summary.metrics]

    def _build_card(self, metric: MetricSummary, meaning: str) -> Card:
        from ragstone.report.drawing.distribution import draw_distribution

        t = self.t
        # Meanings are written as gist; detail.
        first, semicolon, _ = meaning.partition(";")
        drawn = draw_distribution(metric, figures.list_thresholds(self.summary, metric.metric), t)
        counts = {
            name: t.whole(getattr(metric, name)) for name in ("scored", "applicable", "total")
        }
        return Card(
            name=metric.metric,
            figure=t.number(metric.mean),
            aside=t.interval(metric.low, metric.high) if metric.low is not None else "",
            aside_label=t("interval"),
            badge=None if metric.complete else Remark(t("incomplete"), "warn"),
            direction=f"{choose_arrow(metric.higher_is_better)} {t('higher' if metric.higher_is_better else 'lower')}",
            meaning=shorten(meaning, 400),
            gist=shorten(f"{first}." if semicolon else first, 160),
            drawing=drawn[0] if drawn else None,
            drawn_as="distribution",
            ends=drawn[1] if drawn else (),
            coverage=t("coverage_line", **counts),
            remarks=tuple(self.describe_metric(metric)),
            style="" if metric.complete else "incomplete",
        )

    def name_method(self, metric: MetricSummary) -> str:
        """How the interval of a metric was found."""
        text = self.t.translate("method", metric.method) if metric.method else ""
        return f"{text} ({self.t.count('clusters', metric.clusters)})" if metric.clusters else text

    @cached_property
    def labels(self) -> list[tuple[MetricSummary, list[LabelRate]]]:
        """The categories of samples with their rates; once where several metrics put samples into the same."""
        distinct = {
            tuple(sorted(m.labels.items())): m
            for m in self.summary.metrics
            if any(m.labels.values())
        }
        return [(metric, list(label_rates(metric.labels))) for metric in distinct.values()]

    def name_labels(self, metric: MetricSummary) -> str:
        """What the categories of a metric are called."""
        return self.t("refusals") if "answered" in metric.labels else metric.metric

    def format_denominator(self, row: LabelRate) -> str:
        """What the rate of a category is a share of."""
        return figures.name_denominator(row, self.t)

    def format_rate_interval(self, row: LabelRate) -> str:
        """The interval of a category's share."""
        return figures.format_percent_interval(row, self.t)

    @property
    def corrected(self) -> list[tuple[MetricSummary, Any]]:
        """Metrics with labels of people, and what these would say of all samples."""
        return [
            (m, m.corrected.estimate)
            for m in self.summary.metrics
            if m.corrected is not None and m.corrected.estimate is not None
        ]

    @property
    def used(self) -> list[MetricSummary]:
        """Metrics for which a judge was asked."""
        return [metric for metric in self.summary.metrics if metric.usage != NO_USAGE]

    @property
    def about(self) -> dict[str, str]:
        """The facts of the run, by the key of each one's name."""
        info, t = self.summary.run, self.t
        facts = {
            "data": shorten(info.source, 400),
            "format": info.format,
            "samples": t.whole(self.summary.samples),
            "metrics": ", ".join(metric.metric for metric in self.summary.metrics),
            "judge": info.judge or t("no_judge"),
            "cold_start": figures.format_cold_start(info, t),
            "date": self.created,
            "identifier": info.id,
            "version": f"ragstone {info.facts.ragstone}",
            "reproduce": shorten(self.command, 2_000),
        }
        return {key: value for key, value in facts.items() if value}

    def picture(self) -> Drawing:
        """The means with their intervals and targets, and how the scores are spread."""
        from ragstone.report.drawing.charts import draw_histograms, draw_metric_bars

        metrics = self.summary.metrics
        spread = draw_histograms(metrics, self.t, WIDE)
        if not any(m.bounds is not None and m.mean is not None for m in metrics):
            return spread
        return stack_drawings([draw_metric_bars(self.summary, self.t, WIDE), spread])

    # ── samples ───────────────────────────────────────────────────────────────────────────

    @cached_property
    def worst(self) -> list[StoredRow]:
        """The worst samples, for a text."""
        worst = self.summary.worst[:WORST_IN_TEXT]
        return [*map(self.run.rows_at(worst).__getitem__, worst)]

    def format_score(self, row: StoredRow, metric: MetricSummary) -> str:
        """A score of a sample, or why there is none."""
        score = row.scores[metric.metric]
        return self.t.number(score.value) if score.ok else self.t.outcome(score.outcome)

    @cached_property
    def samples(self) -> SampleList:
        """Every sample, the worst first, as far as a page could hold them."""
        from ragstone.report.samples import GENEROUS, SampleFilter, SampleList, open_sample

        summary, t = self.summary, self.t
        # all at once and only if a renderer shows them: each block of the store is then read once
        read_worst = cache(lambda: (self.run.rows_at(summary.worst), find_scales(self.run)))

        # those beyond the worst come in the order of the data: one stretch of them at a time is kept
        @lru_cache(maxsize=1)
        def read_stretch(number: int) -> dict[int, StoredRow]:
            first = number * STRETCH_SAMPLES + 1
            return self.run.rows_at(range(first, min(first + STRETCH_SAMPLES, summary.samples + 1)))

        def open_row(position: int) -> OpenSample:
            rows, scales = read_worst()
            row = rows.get(position) or read_stretch((position - 1) // STRETCH_SAMPLES)[position]
            return open_sample(row, summary.metrics, t, scales)

        worst = set(summary.worst)
        rest = (at for at in range(1, summary.samples + 1) if at not in worst)
        filter = SampleFilter(
            title=t("worst"),
            total=summary.samples,
            metrics=tuple((m.metric, m.higher_is_better) for m in summary.metrics),
            outcomes=tuple(_list_outcomes(summary, t)),
        )
        return SampleList(
            [*summary.worst, *islice(rest, MAX_LISTED_SAMPLES)], open_row, GENEROUS, filter
        )


def open_page(result: Run, t: Translator, **options: Any) -> RunPage:
    """The page of a run."""
    return RunPage(t, result.stored, result.summary(), result=result, **options)


def view_claim(claim: FaultyClaim, row: StoredRow, t: Translator) -> ClaimView:
    """A claim that counts against a sample, in words."""
    finding = claim.finding
    text = t("quoted", text=shorten(finding.text, CLAIM_CHARS))
    lines = tuple(describe_evidence(finding, row.sample, t))
    return ClaimView(shorten(claim.id, 40), text, choose_severity(finding.shown_verdict), lines)


def _list_outcomes(summary: Summary, t: Translator) -> list[tuple[str, str]]:
    """Values and texts of the outcome filter: only what occurs, categories last."""
    # `o:` and `l:` tell outcomes from labels: the page's script filters by these prefixes.
    seen = {name.partition(":")[0] for metric in summary.metrics for name in metric.outcomes}
    choices = [("o:ok", t("outcome.ok"))]
    if seen:
        choices.append(("o:", t("unscored")))
    choices += [(f"o:{name}", t.outcome(name)) for name in OUTCOMES if name in seen]
    labels = {name: None for m in summary.metrics for name, n in m.labels.items() if n}
    return choices + [(f"l:{name}", t.translate("label", name)) for name in labels]


def _describe_verdict(headline: Headline, weakness: str, t: Translator) -> Iterator[str]:
    errors, n = headline.errors, t.whole(headline.samples)
    if errors is not None:
        question = shorten(errors.first.question or t("no_question"), 80)
        yield t(
            "headline.broken",
            failed=t.whole(errors.count),
            n=n,
            question=question,
            reason=shorten(t.message(errors.reason), 200).rstrip("."),
        )
    if headline.verdict == "broken":
        return
    if headline.failures is not None:
        yield describe_unmatched(headline.failures, t)
    figure = _describe_figure(headline, weakness, t)
    if headline.verdict == "healthy":
        yield t("headline.healthy", n=n, figure=figure)
        if headline.faulty:
            yield t("headline.doubts", faulty=t.whole(headline.faulty))
        return
    causes = [kind for kind in headline.causes if kind != "system_failure"]
    if causes and headline.failures is not None:
        counted = [_count_cause(kind, headline.failures, t) for kind in causes[:MAX_CAUSES]]
        where = headline.slice
        yield t(
            "headline.failing" if where is None else "headline.failing_in_slice",
            failing=t.whole(headline.failing),
            n=n,
            causes="; ".join(counted),
            slice="" if where is None else describe_slice(where, t),
        )
        if doubtful := headline.failures.doubtful:
            yield t("headline.doubtful", n=t.whole(doubtful))
    yield t("headline.figure", figure=figure) if headline.metric else t("opening.nothing")
    if headline.verdict == "open" and headline.metric is not None and headline.claims:
        counts = {"faulty": t.whole(headline.faulty), "n": t.whole(headline.metric.scored)}
        yield t("headline.faulty", **counts)


def _count_cause(kind: FailureClass, failures: Failures, t: Translator) -> str:
    n, language = t.whole(failures.count(kind)), failures.run.plan.language
    # where retrieval was measured, a refusal for want of evidence counts as its failure
    if kind == "false_refusal" and "retrieval_failure" in failures.deciders:
        return t("fails.refused_evidence", n=n)
    if kind == "generation_failure" and "retrieval_failure" not in failures.deciders:
        return t("fails.wrong_answer", n=n)
    if kind == "wrong_language" and language:
        return t("fails.asked_language", n=n, language=t.translate("language", language))
    return t(f"fails.{kind}", n=n)


def _describe_figure(headline: Headline, weakness: str, t: Translator) -> str:
    """The leading number with its interval, and how many samples it speaks of where not all."""
    metric = headline.metric
    if metric is None:
        return ""
    figure = t(
        "headline.mean" if metric.low is not None else "headline.mean_alone",
        metric=metric.metric,
        mean=t.number(metric.mean, 2) + ("†" if weakness else ""),
        low=t.number(metric.low, 2),
        high=t.number(metric.high, 2),
    )
    if metric.scored == headline.samples:
        return figure
    # some may apply and lack a score all the same
    key = "headline.of_applicable" if metric.scored == metric.applicable else "headline.of_scored"
    return t(key, figure=figure, scored=t.whole(metric.scored), n=t.whole(headline.samples))


def _find_weakness(
    metric: MetricSummary | None, run: StoredRun, language: str, t: Translator
) -> str:
    """Why the embedded judge is not to be believed on this metric in this language; else empty."""
    if metric is None or not metric.judged or not (run.info.judge or "").startswith(EMBEDDED):
        return ""
    from ragstone.judges.offline.quality import quality

    language_name = t.translate("language", language)
    rows = [
        row
        for row in quality([metric.metric], language)
        if row.language == language and row.auroc is not None
    ]
    if not rows:
        return t("opening.unmeasured", language=language_name)
    worst = min(rows, key=lambda row: row.auroc or 0.0)
    if (worst.auroc or 0.0) >= FIT_AUROC:
        return ""
    return t(
        "opening.weak", language=language_name, auroc=t.number(worst.auroc, 2), data=worst.data
    )


def _describe_judging(summary: Summary, language: str, t: Translator) -> str:
    """Who judged, and how to choose another; said where nobody chose one."""
    info = summary.run
    if info.plan.judge is None and describe_judge(summary, t):
        return t("opening.judged_by_embedded")
    is_foreign = not is_measured_language(language)
    if info.judge is None and info.facts.metrics_by_data and is_foreign:
        return t("opening.not_judged", language=language)
    return ""


def _identify_run_language(run: StoredRun) -> str:
    """The language of most of the first samples."""
    given = run.info.plan.language
    if given:
        return given.lower().split("-")[0]
    rows = islice(run.rows(), PROBED_ROWS)
    tags = [identify_sample_language(row.sample).lower().split("-")[0] for row in rows]
    return max(tags, key=tags.count, default="en")


def describe_evidence(finding: Finding, sample: Sample, t: Translator) -> list[str]:
    """The verdict with its reason, and the text that decides it or the sentence that comes closest."""
    verdict = t.translate("verdict", finding.shown_verdict)
    reason = shorten(t.message(finding.reason), QUOTE_CHARS)
    lines = [f"{verdict}: {reason}" if reason else verdict]
    if finding.quote:
        quote = t("quoted", text=shorten(finding.quote, QUOTE_CHARS))
        lines.append(t("decided_by_text", source=_name_source(finding.chunk, t), quote=quote))
    elif finding.verdict == "not_found" and any(c.text for c in sample.contexts or ()):
        lines.append(_describe_closest(finding.text, sample, t))
    return lines


def _describe_closest(claim: str, sample: Sample, t: Translator) -> str:
    """That no source says it, with the sentence of the sources that shares most of its words."""
    chunks = sample.contexts or ()
    closest = find_closest_sentence(claim, [chunk.text for chunk in chunks])
    if closest is None:
        return t("no_source")
    index, sentence = closest
    source = chunks[index].id or t("rank", n=index + 1)
    quote = t("quoted", text=shorten(sentence, QUOTE_CHARS))
    return t("no_source_closest", source=_name_source(source, t), quote=quote)


def _name_source(chunk: str, t: Translator) -> str:
    """The chunk that holds a text; the answer and the reference are called by their names."""
    name = t.translate("source", chunk)
    return t("rank", n=name) if name.isdigit() else shorten(name, 60)
