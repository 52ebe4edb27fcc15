"""`claims`: split texts into atomic claims.

A text of one sentence is split by code, without asking; so is a sentence that the model calls empty although it states
something."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ragstone.asks.fences import choose_number, to_one_line
from ragstone.asks.kind import Kind, Members, Merge, register
from ragstone.asks.protocol import (
    TEXT,
    ParsedReply,
    PromptBatch,
    ReplySchema,
    build_reply_schema,
    build_rows,
    match_rows,
    pin_ids,
)
from ragstone.asks.rows import (
    extract_rows,
)
from ragstone.asks.schemas import INTEGER, STRING, array_of, object_of
from ragstone.asks.traps import make_trap
from ragstone.asks.types import Ask
from ragstone.errors import JudgeFailed
from ragstone.locale.messages import compose
from ragstone.text.appeals import is_appeal
from ragstone.text.content import find_content_words, is_small_talk
from ragstone.text.sentences import split_cited_parts


def claims(*texts: str, question: str | None = None, language: str | None = None) -> Ask:
    """Split texts into atomic claims that stand on their own; ids are t1, t2, …

    The question goes along with a text that only names something: it is the answer that makes the statement. Where a
    text opens with yes or no and says more, its first sentence makes a statement with the question: `asked`."""
    from ragstone.text.answers import is_bare_answer, is_polar_exchange, repeats_question  # slow

    items: list[dict[str, Any]] = []
    for n, text in enumerate(texts, 1):
        parts = [text[start:end] for start, end in split_cited_parts(text, language)]
        items.append({"id": f"t{n}", "text": text, "sentences": parts})
        if not question or not question.strip() or not parts:
            continue
        if is_bare_answer(text, language) and not repeats_question(question, text):
            items[-1]["question"] = question
        elif is_polar_exchange(question, parts[0], language):
            items[-1]["asked"] = question
    return Ask("claims", {"texts": items}, CLAIMS, language)


CLAIMS = object_of(claims=array_of(object_of(text_id=STRING, sentence=INTEGER, claim=STRING)))


Sentence = tuple[str, int]
"""Id of a text and index of a sentence in it."""


class ClaimsSpec:
    """Every sentence of every text must be accounted for, if only by saying that it claims nothing."""

    prompt = "claims"

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.texts = ask.values["texts"]
        self.items: list[Sentence] = [
            (text["id"], n)
            for text in self.texts
            if len(text["sentences"]) > 1
            for n in range(len(text["sentences"]))
        ]

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> PromptBatch:
        """Build the prompt of the texts, with these sentences numbered and the others as context."""
        return _ClaimsBatch(self.texts, set(items), nonce, self.ask.language)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return the claims in the order of the sentences."""
        rows = []
        for text in self.texts:
            if len(text["sentences"]) == 1:
                rows += _split_by_rule(text, self.ask.language)
                continue
            for n, sentence in enumerate(text["sentences"]):
                claims = settled[text["id"], n] or _list_statements(sentence, self.ask.language)
                rows += [{"text_id": text["id"], "sentence": n, "claim": claim} for claim in claims]
        return {"claims": rows}

    def find_gap(self, value: Any) -> str:
        """Return which sentence of a reply is not there; sentences that claim nothing may be left out."""
        known = {(text["id"], n) for text in self.texts for n in range(len(text["sentences"]))}
        unknown = {(row["text_id"], row["sentence"]) for row in value["claims"]} - known
        if unknown:
            return compose("sentence_unknown", sentence=repr(min(unknown)))
        stated = {(row["text_id"], row["sentence"]) for row in value["claims"]}
        for text in self.texts:
            for n, sentence in enumerate(text["sentences"]):
                if (text["id"], n) not in stated and _list_statements(sentence, self.ask.language):
                    return compose("sentence_left_out", sentence=sentence[:60])
        return ""


class _ClaimsBatch:
    """Sentences of one prompt, and among them an invented one whose claims are known."""

    def __init__(
        self, texts: Sequence[Any], wanted: set[Hashable], nonce: str, language: str | None
    ) -> None:
        self.sentence_of: dict[str, Sentence] = {}
        """Label in the prompt → sentence; the probe has none."""
        self.texts = {text["id"]: text["sentences"] for text in texts}
        open_texts = [
            text
            for text in texts
            if any((text["id"], n) in wanted for n in range(len(text["sentences"])))
        ]
        self.probe = make_trap(f"{nonce}:claims", language, [text["text"] for text in texts])
        self.probe_label = ""
        blocks: list[str] = []
        probe_at = choose_number(f"{nonce}:place", len(open_texts) + 1)
        for text_index, text in enumerate([*open_texts[:probe_at], None, *open_texts[probe_at:]]):
            lines = self._number_probe() if text is None else self._number_lines(text, wanted)
            blocks.append("\n".join([f"<<<{nonce} text {text_index + 1}", *lines, f"{nonce}>>>"]))
        self.values: Mapping[str, str] = {"texts": "\n\n".join(blocks)}
        self.schema = _build_schema(len(self.sentence_of) + 1)

    def _next_label(self) -> str:
        return f"s{len(self.sentence_of) + bool(self.probe_label) + 1}"

    def _number_probe(self) -> list[str]:
        self.probe_label = self._next_label()
        return [f"{self.probe_label}: {self.probe}"]

    def _number_lines(self, text: Mapping[str, Any], wanted: set[Hashable]) -> list[str]:
        # a text that only names things is read as the answer to its question
        lines = [f"question: {to_one_line(text['question'])}"] if text.get("question") else []
        for n, sentence in enumerate(text["sentences"]):
            line = to_one_line(sentence)
            if (text["id"], n) in wanted:
                label = self._next_label()
                self.sentence_of[label] = (text["id"], n)
                line = f"{label}: {line}"
            lines.append(line)
        return lines

    def parse(self, value: Any) -> ParsedReply:
        """Return the claims by sentence; a sentence without an entry, or with another one's claim, is missing."""
        claims_of: dict[str, list[str]] = {}
        for row in value["claims"]:
            claims = claims_of.setdefault(row["sentence"], [])
            claim = " ".join(row["claim"].split())
            # the "…" of the example, copied, is an empty claim as well
            if any(map(str.isalnum, claim)) and claim not in claims:
                claims.append(claim)
        if self.probe_label in claims_of:
            self._check_probe(claims_of[self.probe_label])
        parsed = match_rows(claims_of.items(), [*self.sentence_of, self.probe_label])
        parsed.settled.pop(self.probe_label, None)
        if parsed.fault:  # labels are not named: those of the next prompt differ
            parsed.fault = compose("sentences_mixed_up")
        strays = {
            label: claim
            for label, claims in parsed.settled.items()
            for claim in claims
            if not self._is_own_claim(str(label), claim)
        }
        if strays:
            label, claim = next(iter(strays.items()))
            parsed.kind = "compromised" if len(strays) > 1 else "incomplete"
            text, n = self.sentence_of[str(label)]
            sentence = self.texts[text][n]
            parsed.fault = compose(
                "claim_not_of_sentence", claim=claim[:60], sentence=sentence[:60]
            )
        parsed.settled = {
            self.sentence_of[str(label)]: claims
            for label, claims in parsed.settled.items()
            if label not in strays
        }
        return parsed

    def _is_own_claim(self, label: str, claim: str) -> bool:
        from ragstone.text.claim_checks import is_of_sentence  # a slow import

        text, n = self.sentence_of[label]
        return is_of_sentence(claim, n, self.texts[text])

    def _check_probe(self, claims: Sequence[str]) -> None:
        """Raise JudgeFailed when the claims of the invented sentence are none, or are those of other sentences."""
        probe_words = find_content_words(self.probe)
        if not claims or not all(probe_words & find_content_words(claim) for claim in claims):
            raise JudgeFailed("compromised", "probe_not_split")


@lru_cache(maxsize=256)
def _build_schema(count: int) -> ReplySchema:
    labels = pin_ids([f"s{n}" for n in range(1, count + 1)])
    return build_reply_schema(claims=build_rows(sentence=labels, claim=TEXT))


def _list_statements(sentence: str, language: str | None) -> list[str]:
    """Return what a sentence states by rule; nothing of questions, headings, refusals and small talk."""
    from ragstone.text.claims import split_claims

    if is_small_talk(sentence) or is_appeal(sentence):
        return []
    return list(split_claims(sentence, language))


def _split_by_rule(text: Mapping[str, Any], language: str | None) -> list[dict[str, Any]]:
    from ragstone.text.claims import answer_claims

    rows: list[dict[str, Any]] = answer_claims({"texts": [text]}, language)["claims"]
    return rows


def _unite_claims(asks: Sequence[Ask]) -> tuple[Ask, Members]:
    """Build one `claims` Ask over the distinct texts of several."""
    items = {_claim_key(item): item for ask in asks for item in ask.values["texts"]}
    # ids follow the sorted texts, not the order of metrics: the merged Ask's key must not depend on
    # that order
    ids = {key: f"t{n}" for n, key in enumerate(sorted(items), 1)}
    texts = [{**items[key], "id": ids[key]} for key in sorted(items)]
    members = []
    for ask in asks:
        # every merged id is a key, with an empty list where the Ask does not have that text: see
        # `_extract_rows`
        ids_of_ask: dict[str, list[str]] = {merged_id: [] for merged_id in ids.values()}
        for item in ask.values["texts"]:
            ids_of_ask[ids[_claim_key(item)]].append(item["id"])
        members.append((ask, extract_rows("claims", "text_id", ids_of_ask)))
    return replace(asks[0], values={"texts": texts}), members


def _claim_key(item: Mapping[str, Any]) -> tuple[str, str]:
    """What makes two texts to split the same: their words, and the question that a bare answer is read with."""
    return item["text"], item.get("question", "")


KIND = register(
    Kind(
        "claims",
        lambda language: claims("x", language=language),
        spec=ClaimsSpec,
        merge=Merge(lambda ask: (), lambda asks: [_unite_claims(asks)]),
        by_first=True,
    )
)
