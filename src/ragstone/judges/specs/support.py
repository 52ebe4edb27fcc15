"""Prompt spec of `support`: claims are checked against sources, with a trap claim among them and every quote verified."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.fences import choose_number, fence, to_one_line
from ragstone.judges.specs.protocol import ParsedReply, match_rows
from ragstone.judges.traps import make_trap
from ragstone.locale.messages import compose
from ragstone.text.evidence import find_quote


class SupportSpec:
    """The claims of an Ask; those without any source are settled without asking."""

    prompt = "support"

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.cases = ask.values["cases"]
        self.case_of = {c["id"]: n for n, case in enumerate(self.cases) for c in case["claims"]}
        self.items = [c["id"] for case in self.cases if case["sources"] for c in case["claims"]]

    def build_batch(self, items: Sequence[Hashable], nonce: str, with_trap: bool) -> SupportBatch:
        """Build the prompt of the cases that these claims belong to."""
        wanted = set(items)
        open_cases = [
            ([c for c in case["claims"] if c["id"] in wanted], case["sources"])
            for case in self.cases
        ]
        return SupportBatch(open_cases, nonce, self.ask.language, with_trap)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """Return one verdict for each claim, in the order of the Ask."""
        no_source = {"verdict": "not_found", "evidence": [], "reason": compose("no_source")}
        return {"verdicts": [{"id": name, **settled.get(name, no_source)} for name in self.case_of]}


class SupportBatch:
    """Some cases of a `support` Ask in one prompt: claims renumbered, a trap claim somewhere in each case."""

    def __init__(
        self,
        cases: Sequence[tuple[list[Any], list[Any]]],
        nonce: str,
        language: str | None,
        with_trap: bool,
    ) -> None:
        self._nonce = nonce
        self.sources: dict[str, dict[str, str]] = {}
        """Id of a claim in the Ask → ids and texts of its sources."""
        self.claim_ids: dict[str, str] = {}
        """Label in the prompt → id of the claim in the Ask; trap claims have none."""
        self.texts: dict[str, str] = {}
        """Label in the prompt → text of the claim, traps included."""
        blocks: list[str] = []
        for n, (claims, sources) in enumerate(cases):
            if not claims and len(cases) > 1:
                continue
            texts: list[tuple[str | None, str]] = [(c["id"], c["text"]) for c in claims]
            # one trap in each case: a source can mislead a judge about its own case only
            if with_trap:
                trap = make_trap(f"{nonce}:{n}", language, [s["text"] for s in sources])
                texts.insert(choose_number(f"{nonce}:{n}:place", len(texts) + 1), (None, trap))
            head = f"case {len(blocks) + 1}\n" if len(cases) > 1 else ""
            blocks.append(head + self._build_block(texts, sources))
        self.values: Mapping[str, str] = {"cases": "\n\n".join(blocks)}

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
        """Return the verdicts by claim; raises JudgeFailed when the judge supports a trap claim."""
        rows = [(row["id"], row) for row in value["verdicts"]]
        for label, row in rows:
            is_trap = label in self.texts and label not in self.claim_ids
            if is_trap and row["verdict"] == "supported":
                raise JudgeFailed("compromised", "trap_taken")
        parsed = match_rows(rows, list(self.texts))
        if parsed.fault:  # labels are not named: those of the next prompt differ
            parsed.fault = compose("ids_mixed_up")
        verdicts: dict[Hashable, Any] = {}
        for label, row in parsed.settled.items():
            claim_id = self.claim_ids.get(str(label))
            if claim_id is None:
                continue
            evidence, is_proven = _verify_evidence(row["evidence"], self.sources[claim_id])
            verdicts[claim_id] = {
                "verdict": row["verdict"], "evidence": evidence, "reason": row["reason"],
            }  # fmt: skip
            if row["verdict"] == "supported" and not is_proven:
                parsed.unproven.add(claim_id)
                claim = _shorten(self.texts[str(label)])
                parsed.unproven_reason = compose("quote_unproven", claim=claim)
        parsed.settled = verdicts
        return parsed


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")


def _verify_evidence(rows: Sequence[Any], sources: Mapping[str, str]) -> tuple[list[Any], bool]:
    """Return the quotes that stand in the sources, else all about known sources; and whether any was verified."""
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
