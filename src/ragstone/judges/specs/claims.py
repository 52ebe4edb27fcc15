"""Prompt spec of `claims`: texts are split into atomic claims, sentence by sentence."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.judges.fences import to_one_line
from ragstone.judges.specs.protocol import ParsedReply, PromptBatch, match_rows
from ragstone.locale.messages import compose
from ragstone.text.words import fold_text


class ClaimsSpec:
    """Every sentence of every text must be accounted for, if only by saying that it claims nothing."""

    prompt = "claims"

    def __init__(self, ask: Ask) -> None:
        self.texts = ask.values["texts"]
        self.items = [(t["id"], n) for t in self.texts for n in range(len(t["sentences"]))]

    def build_batch(self, items: Sequence[Hashable], nonce: str, with_trap: bool) -> PromptBatch:
        """Build the prompt of the texts, with these sentences numbered and the others as context."""
        wanted = set(items)
        blocks = []
        for text in self.texts:
            numbered = [(text["id"], n) in wanted for n in range(len(text["sentences"]))]
            if not any(numbered):
                continue
            lines = [
                f"[{n}] {to_one_line(sentence)}" if is_numbered else to_one_line(sentence)
                for n, (sentence, is_numbered) in enumerate(
                    zip(text["sentences"], numbered, strict=True)
                )
            ]
            blocks.append("\n".join([f"<<<{nonce} text {text['id']}", *lines, f"{nonce}>>>"]))
        return _ClaimsBatch({"texts": "\n\n".join(blocks)}, list(items), self.texts)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return the claims in the order of the sentences."""
        rows = [
            {"text_id": item[0], "sentence": item[1], "claim": claim}
            for item in self.items
            for claim in settled[item]
        ]
        return {"claims": rows}


class _ClaimsBatch:
    """Sentences of one prompt."""

    def __init__(
        self, values: Mapping[str, str], items: Sequence[Hashable], texts: Sequence[Any]
    ) -> None:
        self.values = values
        self.items = items
        self.prefixes = {text["id"]: _find_prefixes(text["text"]) for text in texts}

    def parse(self, value: Any) -> ParsedReply:
        """Return the claims by sentence; a sentence without an entry is missing."""
        claims_of: dict[Hashable, list[str]] = {}
        for row in value["claims"]:
            claim = " ".join(row["claim"].split())
            if claim and _is_invented(claim, self.prefixes.get(row["text_id"], set())):
                fault = compose("claim_invented", claim=claim[:60], text=row["text_id"][:20])
                return ParsedReply(fault=fault)
            claims = claims_of.setdefault((row["text_id"], row["sentence"]), [])
            if claim and claim not in claims:
                claims.append(claim)
        return match_rows(claims_of.items(), self.items)


_WORD = re.compile(r"\w+")
_SPACELESS = re.compile("[\u0e00-\u0eff\u2e80-\uffff]")
_MIN_SHARED_PREFIXES = 0.3
"""Share of a claim's longer words that must come from its text; a paraphrase keeps more than that."""


def _find_prefixes(text: str) -> set[str]:
    """Return the first four letters of each longer word: stems for any language."""
    return {word[:4] for word in _WORD.findall(fold_text(text)) if len(word) > 3 or word.isdigit()}


def _is_invented(claim: str, text_prefixes: set[str]) -> bool:
    """Return whether a claim shares next to no words with the text it is said to come from."""
    if not claim.isascii() and _SPACELESS.search(claim):
        return False  # without spaces there are no words to compare
    prefixes = _find_prefixes(claim)
    shared = len(prefixes & text_prefixes)
    return len(prefixes) > 1 and shared < _MIN_SHARED_PREFIXES * len(prefixes)
