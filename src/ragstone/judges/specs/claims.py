"""Prompt spec of `claims`: texts are split into atomic claims, sentence by sentence.

A text of one sentence is split by rule, without asking. So is a sentence that the model calls empty although it states
something: a text could have asked for that. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.fences import choose_number, to_one_line
from ragstone.judges.specs.protocol import (
    TEXT,
    ParsedReply,
    PromptBatch,
    ReplySchema,
    build_reply_schema,
    build_rows,
    match_rows,
    pin_ids,
)
from ragstone.judges.traps import make_trap
from ragstone.locale.messages import compose
from ragstone.text.appeals import is_appeal
from ragstone.text.claim_checks import is_of_sentence
from ragstone.text.content import find_content_words, is_small_talk

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
    from ragstone.judges.offline.statements import statements

    if is_small_talk(sentence) or is_appeal(sentence):
        return []
    return [statement.text for statement in statements(sentence, language)]


def _split_by_rule(text: Mapping[str, Any], language: str | None) -> list[dict[str, Any]]:
    from ragstone.judges.offline.replies import reply_to  # loads numpy

    rows: list[dict[str, Any]] = reply_to("claims", {"texts": [text]}, language)["claims"]
    return rows
