"""Prompt spec of `support`: claims are checked against sources, with a trap claim among them and every quote verified. Versioned by PROTOCOL_VERSION in judges/model_judge.py."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ragstone.asks import Ask
from ragstone.judges.fences import choose_number, fence, to_one_line
from ragstone.judges.specs.protocol import (
    TEXT,
    ParsedReply,
    ReplySchema,
    build_reply_schema,
    build_rows,
    build_rows_by_id,
    match_rows,
    pin_ids,
)
from ragstone.judges.traps import make_trap
from ragstone.locale.messages import compose
from ragstone.text.claim_checks import is_proof
from ragstone.text.evidence import find_quote


class SupportSpec:
    """The claims of an Ask; those without any source are settled without asking."""

    prompt = "support"

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.cases = ask.values["cases"]
        self.case_of = {c["id"]: n for n, case in enumerate(self.cases) for c in case["claims"]}
        self.items = [c["id"] for case in self.cases if case["sources"] for c in case["claims"]]

    def build_batch(self, items: Sequence[Hashable], nonce: str) -> SupportBatch:
        """Build the prompt of the cases that these claims belong to."""
        wanted = set(items)
        open_cases = [
            {**case, "claims": [c for c in case["claims"] if c["id"] in wanted]}
            for case in self.cases
        ]
        return SupportBatch([c for c in open_cases if c["claims"]], nonce, self.ask.language)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return one verdict for each claim, in the order of the Ask."""
        no_source = {"verdict": "not_found", "evidence": [], "reason": compose("no_source")}
        return {"verdicts": [{"id": name, **settled.get(name, no_source)} for name in self.case_of]}

    def find_gap(self, value: Any) -> str:
        """Return which claims a reply has no verdict on, or more than one."""
        return match_rows(((row["id"], row) for row in value["verdicts"]), list(self.case_of)).fault


class SupportBatch:
    """Some cases of a `support` Ask in one prompt: claims renumbered, a trap claim somewhere in each case."""

    def __init__(
        self, cases: Sequence[Mapping[str, Any]], nonce: str, language: str | None
    ) -> None:
        self._nonce = nonce
        self.sources: dict[str, dict[str, str]] = {}
        """Id of a claim in the Ask → ids and texts of its sources."""
        self.claim_ids: dict[str, str] = {}
        """Label in the prompt → id of the claim in the Ask; trap claims have none."""
        self.texts: dict[str, str] = {}
        """Label in the prompt → text of the claim, traps included."""
        blocks: list[str] = []
        for n, case in enumerate(cases):
            sources = case["sources"]
            texts: list[tuple[str | None, str]] = [(c["id"], c["text"]) for c in case["claims"]]
            # one trap in each case: a source can mislead a judge about its own case only
            trap = make_trap(f"{nonce}:{n}", language, [s["text"] for s in sources])
            texts.insert(choose_number(f"{nonce}:{n}:place", len(texts) + 1), (None, trap))
            block = self._build_block(texts, sources)
            if "question" in case:
                block = f"{fence(nonce, 'question', case['question'])}\n{block}"
            blocks.append(f"case {n + 1}\n{block}")
        self.values: Mapping[str, str] = {"cases": "\n\n".join(blocks)}
        source_ids = tuple(source["id"] for case in cases for source in case["sources"])
        self.schema = _build_schema(len(self.texts), source_ids)

    def _build_block(self, texts: Sequence[tuple[str | None, str]], sources: Sequence[Any]) -> str:
        """Return the sources and the labelled claims of one case."""
        nonce = self._nonce
        lines = [fence(nonce, f"source {s['id']}", s["text"]) for s in sources]
        lines.append(f"<<<{nonce} claims")
        for claim_id, text in texts:
            label = f"c{len(self.texts) + 1}"
            if claim_id is not None:
                self.claim_ids[label] = claim_id
                self.sources[claim_id] = {s["id"]: s["text"] for s in sources}
            self.texts[label] = to_one_line(text)
            lines.append(f"{label}: {self.texts[label]}")
        return "\n".join([*lines, f"{nonce}>>>"])

    def parse(self, value: Any) -> ParsedReply:
        """Return the verdicts by claim; none of a reply that supports a trap claim."""
        rows = [(row["id"], row) for row in value["verdicts"]]
        for label, row in rows:
            is_trap = label in self.texts and label not in self.claim_ids
            if is_trap and row["verdict"] == "supported":
                # of all quotes alike, so that the next prompt does not tell which claim is the trap
                fault = compose("quotes_unfit")
                return ParsedReply(fault=fault, kind="compromised", code="trap_taken")
        parsed = match_rows(rows, list(self.texts))
        if parsed.fault:  # labels are not named: those of the next prompt differ
            parsed.fault = compose("ids_mixed_up")
        verdicts: dict[Hashable, Any] = {}
        for label, row in parsed.settled.items():
            claim_id = self.claim_ids.get(str(label))
            if claim_id is None:
                continue
            sources, text = self.sources[claim_id], self.texts[str(label)]
            evidence, is_located = _verify_evidence(row["evidence"], sources)
            verdicts[claim_id] = {
                "verdict": row["verdict"], "evidence": evidence, "reason": row["reason"],
            }  # fmt: skip
            quotes = [(item["quote"], sources[item["source"]]) for item in evidence]
            if row["verdict"] == "supported" and not (is_located and is_proof(text, quotes)):
                parsed.unproven.add(claim_id)
                code = "quote_irrelevant" if is_located else "quote_unproven"
                parsed.unproven_reason = compose(code, claim=_shorten(text))
        parsed.settled = verdicts
        return parsed


@lru_cache(maxsize=256)
def _build_schema(count: int, sources: tuple[str, ...]) -> ReplySchema:
    return build_reply_schema(
        verdicts=build_rows_by_id(
            [f"c{n}" for n in range(1, count + 1)],
            # the order of the keys is that of the writing: a small model decides better after its reason
            reason=TEXT,
            verdict={"type": "string", "enum": list(VERDICTS)},
            evidence=build_rows(source=pin_ids(sources), quote=TEXT),
        )
    )


VERDICTS = ("supported", "contradicted", "not_found")


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")


def _verify_evidence(rows: Sequence[Any], sources: Mapping[str, str]) -> tuple[list[Any], bool]:
    """Return the quotes that stand in the sources, else all about known sources; and whether any stands there."""
    proven = []
    for row in rows:
        quote, named = row["quote"], row["source"]
        order = [named, *(name for name in sources if name != named)]
        # a right quote under the wrong number still proves the claim
        home = next((n for n in order if n in sources and find_quote(quote, sources[n])), None)
        if home is not None:
            proven.append({"source": home, "quote": quote})
    quotes = proven or [row for row in rows if row["source"] in sources]
    return quotes, bool(proven)
