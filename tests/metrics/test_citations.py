"""Citation markers: which sentence carries them, what they point at, and whether it holds."""

from __future__ import annotations

import pytest

from ragstone.errors import JudgeFailed, NotApplicable
from ragstone.metrics.citations import (
    citation_accuracy,
    citation_precision,
    citation_recall,
    find_markers,
)
from ragstone.types import Chunk, Ranked, chunks

SKY, SEA = "The sky is blue today [1].", "The sea is green [1]."
CONTEXTS = chunks(
    {"id": "a", "text": "Today the sky is blue."}, {"id": "b", "text": "A green sea."}
)
FACTS = {SKY: ["the sky is blue"], SEA: ["green sea"]}


def test_a_marker_is_right_when_its_chunk_holds_the_evidence(drive, Script):
    score = drive(citation_precision(f"{SKY} {SEA}", CONTEXTS), Script(quotes=FACTS))
    assert score.value == 0.5
    right, wrong = score.findings
    assert (right.verdict, right.chunk, right.verified) == ("supported", "a", True)
    assert CONTEXTS[0].text[right.start : right.end] == "the sky is blue"
    assert (wrong.verdict, wrong.chunk, wrong.quote) == ("not_found", "a", "")


def test_recall_counts_claims_with_a_supporting_marker(drive, Script):
    bare = "Grass grows."
    score = drive(citation_recall(f"{SKY} {SEA} {bare}", CONTEXTS), Script(quotes=FACTS))
    assert score.value == pytest.approx(1 / 3)
    assert [f.verdict for f in score.findings] == ["supported", "not_found", "not_cited"]


def test_accuracy_is_the_f1_of_both(drive, Script):
    answer = f"{SKY} {SEA} Grass grows."
    score = drive(citation_accuracy(answer, CONTEXTS), Script(quotes=FACTS))
    assert score.value == pytest.approx(2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))


def test_accuracy_is_0_when_nothing_is_right(drive, Script):
    assert drive(citation_accuracy(SEA, CONTEXTS), Script(quotes=FACTS)).value == 0.0


@pytest.mark.parametrize("metric", [citation_precision, citation_recall, citation_accuracy])
def test_without_markers_nothing_is_asked(drive, Script, metric):
    judge = Script()
    with pytest.raises(NotApplicable, match="no citation marker"):
        drive(metric("The sky is blue [sic].", CONTEXTS), judge)
    assert judge.asked == []


def test_a_marker_that_points_at_no_chunk_is_wrong(drive, Script):
    answer = "The sky is blue today [7]."
    judge = Script(quotes={answer: ["the sky is blue"]})
    score = drive(citation_precision(answer, CONTEXTS), judge)
    assert score.value == 0.0
    assert score.findings[0].reason == "[7] points at no chunk"


def test_a_dangling_marker_without_a_claim_still_counts_as_wrong(drive, Script):
    rows = [{"text_id": "t1", "sentence": 0, "claim": SKY}]
    judge = Script(quotes=FACTS, replies={"claims": {"claims": rows}})
    assert drive(citation_precision(f"{SKY} Right? [9]", CONTEXTS), judge).value == 0.5


def test_markers_without_any_claim_beside_them_have_no_precision(drive, Script):
    rows = [{"text_id": "t1", "sentence": 0, "claim": "x"}]
    answer = "The sky is blue. But see [1] too."
    judge = Script(replies={"claims": {"claims": rows}})
    with pytest.raises(NotApplicable, match="stands with a claim"):
        drive(citation_precision(answer, CONTEXTS), judge)
    assert drive(citation_recall(answer, CONTEXTS), judge).value == 0.0


def test_every_marker_is_paired_with_every_claim_of_its_sentence(drive, Script):
    answer = "The sky is blue and the sea is green [1][2]."
    rows = [{"text_id": "t1", "sentence": 0, "claim": claim} for claim in (SKY, SEA)]
    judge = Script(quotes=FACTS, replies={"claims": {"claims": rows}})
    score = drive(citation_precision(answer, CONTEXTS), judge)
    assert score.value == 0.5
    assert len(score.findings) == 4


CLAUSES = chunks(
    {"id": "p", "text": "Returns are accepted within 30 days of purchase."},
    {"id": "q", "text": "Original receipt required for all returns."},
)


@pytest.mark.parametrize(("first", "second", "value"), [("[1]", "[2]", 1.0), ("[2]", "[1]", 0.0)])
def test_a_marker_cites_what_stands_before_it_back_to_the_marker_before(
    drive, Script, first, second, value
):
    judge = Script(
        quotes={
            f"You can return items within 30 days {first}": ["within 30 days"],
            f"as long as you have the receipt {second}.": ["Original receipt"],
        }
    )
    answer = (
        f"You can return items within 30 days {first} as long as you have the receipt {second}."
    )
    for metric in (citation_precision, citation_recall, citation_accuracy):
        assert drive(metric(answer, CLAUSES), judge).value == value


def test_what_follows_the_last_marker_of_a_sentence_is_not_cited(drive, Script):
    judge = Script(quotes={"The sky is blue [1]": ["sky is blue"]})
    score = drive(citation_recall("The sky is blue [1] and the sea is calm.", CONTEXTS), judge)
    assert [finding.verdict for finding in score.findings] == ["supported", "not_cited"]


def test_nothing_retrieved_makes_every_marker_wrong(drive, Script):
    judge = Script(quotes=FACTS)
    assert drive(citation_precision(SKY, Ranked()), judge).value == 0.0
    assert drive(citation_recall(SKY, Ranked()), judge).value == 0.0
    assert {ask.kind for ask in judge.asked} == {"claims"}


def test_the_same_sentence_in_an_overlapping_chunk_is_evidence_too(drive, Script):
    text = "Today the sky is blue over the whole of Spain."
    contexts = Ranked([Chunk("a", text), Chunk("b", "Weather. " + text)])
    row = {"id": "c1", "verdict": "supported", "reason": ""}
    long = {**row, "evidence": [{"source": "k1", "quote": "the sky is blue over the whole"}]}
    short = {**row, "evidence": [{"source": "k1", "quote": "sky is blue"}]}
    answer = "The sky is blue [2]."
    for evidence, value in ((long, 1.0), (short, 0.0)):
        judge = Script(replies={"support": {"verdicts": [evidence]}})
        assert drive(citation_precision(answer, contexts), judge).value == value


def test_an_empty_chunk_keeps_its_rank(drive, Script):
    contexts = Ranked([Chunk("x", ""), *CONTEXTS])
    answer = "The sky is blue today [2]."
    judge = Script(quotes={answer: ["the sky is blue"]})
    assert drive(citation_precision(answer, contexts), judge).value == 1.0
    assert len(judge.asked[-1].values["cases"][0]["sources"]) == 2


def test_an_incomplete_reply_is_no_score(drive, Script):
    with pytest.raises(JudgeFailed):
        drive(citation_accuracy(SKY, CONTEXTS), Script(replies={"support": {"verdicts": []}}))


def found(answer, contexts=CONTEXTS):
    named = [Chunk(chunk.id or str(n), chunk.text) for n, chunk in enumerate(contexts, 1)]
    return [(m.sentence, m.shown, m.ranks) for m in find_markers(answer, named, "en")]


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("Blue [1].", [(0, "[1]", (1,))]),
        ("Blue [1][2].", [(0, "[1]", (1,)), (0, "[2]", (2,))]),
        ("Blue [1, 2].", [(0, "[1]", (1,)), (0, "[2]", (2,))]),
        ("Blue [1; 2].", [(0, "[1]", (1,)), (0, "[2]", (2,))]),
        ("Blue [1-2].", [(0, "[1]", (1,)), (0, "[2]", (2,))]),
        ("Blue [2–1].", [(0, "[1]", (1,)), (0, "[2]", (2,))]),
        ("Blue [^1].", [(0, "[1]", (1,))]),
        ("Blue [1] and [1].", [(0, "[1]", (1,))]),
        ("Blue [b].", [(0, "[b]", (2,))]),
        ("Blue [0].", [(0, "[0]", ())]),
        ("Blue [2-999999999].", [(0, "[2]", (2,)), (0, "[2-999999999]", ())]),
        ("Blue [99999999999999999999].", []),
        ("Blue [see 1].", []),
        ("Blue []. [sic]", []),
        ("Blue.[1] Green.[2]", [(0, "[1]", (1,)), (1, "[2]", (2,))]),
        ("Blue skies. [1] Green seas. [2]", [(0, "[1]", (1,)), (1, "[2]", (2,))]),
        ("Blue skies.\n[1] Green seas.", [(2, "[1]", (1,))]),
        ("[1] Blue skies are here.", [(0, "[1]", (1,))]),
        ("Blue skies.\n[1]\n", [(0, "[1]", (1,))]),
    ],
)
def test_markers_are_read_with_their_sentence(answer, wanted):
    assert found(answer) == wanted


def test_a_number_is_a_rank_before_it_is_an_id():
    contexts = chunks(
        {"id": "2", "text": "x"}, {"id": "12", "text": "y"}, {"id": "12", "text": "z"}
    )
    assert found("Blue [2].", contexts) == [(0, "[2]", (2,))]
    assert found("Blue [12].", contexts) == [(0, "[12]", (2, 3))]
