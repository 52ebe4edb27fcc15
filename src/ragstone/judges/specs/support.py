"""The `support` form: claims against sources, with a trap among them and every quote looked up."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ragstone.asks import Ask
from ragstone.errors import JudgeFailed
from ragstone.judges.fences import choose_number, fence, to_one_line
from ragstone.judges.specs.protocol import ParsedReply, match_rows
from ragstone.judges.traps import make_trap
from ragstone.text.evidence import find_quote


class SupportSpec:
    """All claims of an Ask; those without any source are settled without asking."""

    prompt = "support"

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.cases = ask.values["cases"]
        self.case_of = {c["id"]: n for n, case in enumerate(self.cases) for c in case["claims"]}
        self.items = [c["id"] for case in self.cases if case["sources"] for c in case["claims"]]

    def build_batch(self, items: Sequence[Hashable], mark: str, trapped: bool) -> SupportBatch:
        """The cases that still have open claims, with their sources."""
        wanted = set(items)
        open_cases = [
            ([c for c in case["claims"] if c["id"] in wanted], case["sources"])
            for case in self.cases
        ]
        return SupportBatch(open_cases, mark, self.ask.language, trapped)

    def trap_sheet(self, mark: str) -> SupportBatch:
        """The trap alone against all sources, for judges that get one claim at a time."""
        sources = [source for case in self.cases for source in case["sources"]]
        return SupportBatch([([], sources)], mark, self.ask.language, True)

    def build_reply(self, settled: Mapping[Hashable, Any]) -> Any:
        """One verdict for each claim, in the order of the Ask."""
        nothing = {"verdict": "not_found", "evidence": [], "reason": "there is no source"}
        return {"verdicts": [{"id": name, **settled.get(name, nothing)} for name in self.case_of]}


class SupportBatch:
    """Claims renumbered, a trap somewhere among those of each case."""

    def __init__(
        self,
        cases: Sequence[tuple[list[Any], list[Any]]],
        mark: str,
        language: str | None,
        trapped: bool,
    ) -> None:
        self.sources: dict[str, dict[str, str]] = {}
        self.real: dict[str, str] = {}
        """Number on the sheet → id in the Ask; the trap has none."""
        self.texts: dict[str, str] = {}
        blocks: list[str] = []
        number = 0
        for n, (claims, sources) in enumerate(cases):
            texts: list[tuple[str | None, str]] = [(c["id"], c["text"]) for c in claims]
            if not texts and len(cases) > 1:
                continue
            if trapped:  # one in each case: a source can talk a judge round about its own case only
                lie = make_trap(f"{mark}:{n}", language, [source["text"] for source in sources])
                texts.insert(choose_number(f"{mark}:{n}:place", len(texts) + 1), (None, lie))
            lines = []
            for name, text in texts:
                number += 1
                label = f"c{number}"
                if name is not None:
                    self.real[label] = name
                    self.sources[name] = {s["id"]: s["text"] for s in sources}
                self.texts[label] = to_one_line(text)
                lines.append(f"{label}: {self.texts[label]}")
            head = f"case {len(blocks) + 1}\n" if len(cases) > 1 else ""
            read = [fence(mark, f"source {s['id']}", s["text"]) for s in sources]
            blocks.append(head + "\n".join([*read, f"<<<{mark} claims", *lines, f"{mark}>>>"]))
        self.labels = [f"c{n}" for n in range(1, number + 1)]
        self.values: Mapping[str, str] = {"cases": "\n\n".join(blocks)}

    def read(self, value: Any) -> ParsedReply:
        """Verdicts by claim; supporting the trap gives the judge away."""
        rows = [(row["id"], row) for row in value["verdicts"]]
        for label, row in rows:
            if label in self.labels and label not in self.real and row["verdict"] == "supported":
                raise JudgeFailed(
                    "compromised", "the judge called an invented claim supported by the sources"
                )
        sifted = match_rows(rows, self.labels)
        if sifted.fault:  # the numbers are those of this sheet only, and the trap moves them
            sifted.fault = "some claim ids were missing, repeated or not among those given"
        found: dict[Hashable, Any] = {}
        for label, row in sifted.settled.items():
            name = self.real.get(str(label))
            if name is None:
                continue
            evidence, proven = _evidence(row["evidence"], self.sources[name])
            found[name] = {"verdict": row["verdict"], "evidence": evidence, "reason": row["reason"]}
            if row["verdict"] == "supported" and not proven:
                text = self.texts[str(label)]
                sifted.unproven.add(name)
                sifted.unproven_reason = (
                    f"the quote for {_start(text)} does not stand in the source"
                )
        sifted.settled = found
        return sifted


def _start(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:60] + "…")


def _evidence(rows: Sequence[Any], sources: Mapping[str, str]) -> tuple[list[Any], bool]:
    """The evidence that can be found in the sources, else all of it; and whether any was found."""
    proven = []
    for row in rows:
        quote, named = row["quote"], row["source"]
        order = [named, *(name for name in sources if name != named)]
        # a right quote under the wrong number still proves the claim
        home = next((n for n in order if n in sources and find_quote(quote, sources[n])), None)
        if home is not None:
            proven.append({"source": home, "quote": quote})
    kept = proven or [row for row in rows if row["source"] in sources]
    return kept, bool(proven)
