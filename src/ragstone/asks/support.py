"""`support`: check claims against sources.

On the JSON route all claims of a sample go along in one prompt, a trap claim among them, and every quote is verified.
A small model is asked one yes/no question a claim, with the whole sources in front."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from ragstone.asks.choices import (
    ChoiceRequest,
    Deciding,
    LocalCode,
    build_request,
    read_yes,
)
from ragstone.asks.fences import choose_number, fence, neutralize, to_one_line
from ragstone.asks.kind import ItemKey, Items, Kind, Members, Merge, register
from ragstone.asks.protocol import (
    TEXT,
    ParsedReply,
    ReplySchema,
    build_reply_schema,
    build_rows,
    build_rows_by_id,
    match_rows,
    pin_ids,
)
from ragstone.asks.rows import (
    align_rows,
    extract_rows,
    list_texts,
    note_disagreement,
    number_cases,
)
from ragstone.asks.schemas import QUOTES, STRING, array_of, enum_of, object_of
from ragstone.asks.traps import make_trap
from ragstone.asks.types import Ask, digest
from ragstone.errors import JudgeFailed
from ragstone.locale.messages import compose
from ragstone.prompts import Prompt
from ragstone.text.evidence import find_quote
from ragstone.types import Chunk


class Case(NamedTuple):
    """Claims to be checked against sources of their own."""

    claims: tuple[str, ...]
    sources: tuple[Chunk, ...]
    answers: tuple[str, ...] = ()
    """For each claim the bare answer that it was made of with its question, empty for other claims."""
    question: str | None = None
    """The question that claims and sources answer, where one of them only names something."""


def support(*cases: Case, language: str | None = None) -> Ask:
    """Check claims against sources; claim ids are c1, c2, … and source ids k1, k2, … through all cases."""
    rows = number_cases(((case.claims, case.sources) for case in cases), "claims", "c")
    for case, row in zip(cases, rows, strict=True):
        for claim, answer in zip(row["claims"], case.answers, strict=False):
            if answer:
                claim["answer"] = answer
        if case.question:
            row["question"] = case.question
    return Ask("support", {"cases": rows}, SUPPORT, language)


SUPPORT = object_of(
    verdicts=array_of(
        object_of(
            id=STRING,
            verdict=enum_of("supported", "contradicted", "not_found"),
            evidence=QUOTES,
            reason=STRING,
        )
    )
)


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
        from ragstone.text.claim_checks import find_quote_fault  # a slow import

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
            if row["verdict"] == "supported" and (not is_located or find_quote_fault(text, quotes)):
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


NO_SOURCE = {"verdict": "not_found", "evidence": [], "reason": compose("no_source")}


def choose_support(ask: Ask, code: LocalCode) -> Deciding:
    """Ask for each claim whether the sources support it; P(yes) is its probability.

    Quotes are found afterwards and change nothing. Once a claim is called supported, an invented one must be denied; and
    a claim that code saw nothing of is put to an invented source, too: where that supports it as well, since an order was
    obeyed, its probability is that of a no there."""
    prompt = code.load_prompt("choose_support")
    verdicts: list[dict[str, Any]] = []
    for case in ask.values["cases"]:
        if not case["sources"] or not case["claims"]:
            verdicts += [{"id": claim["id"], **NO_SOURCE} for claim in case["claims"]]
            continue
        texts = [source["text"] for source in case["sources"]]
        claims = [claim["text"] for claim in case["claims"]]
        shown = [state(text, case) for text in code.choose_passages(claims, texts)]
        requests = [build_support_request(prompt, shown, state(claim, case)) for claim in claims]
        choices = yield tuple(requests)
        decided = [read_yes(*pair) for pair in zip(choices, requests, strict=True)]
        embedded = {row["id"]: row for row in code.reply.get("verdicts", ())}
        obeyed: dict[str, float | None] = {}
        if any(is_supported for is_supported, _ in decided):
            lifted = [
                claim
                for claim, (is_supported, _) in zip(case["claims"], decided, strict=True)
                if is_supported and _is_denied(embedded.get(claim["id"]))
            ]
            trap = make_trap(f"{ask.key}:{claims[0]}", ask.language, texts)
            passage = make_trap(f"{ask.key}:passage", ask.language, claims)
            controls = [build_support_request(prompt, shown, trap)]
            controls += [
                build_support_request(prompt, [passage], state(c["text"], case)) for c in lifted
            ]
            choices = yield tuple(controls)
            first, *others = (read_yes(*pair) for pair in zip(choices, controls, strict=True))
            if first[0]:
                raise JudgeFailed("compromised", "trap_taken")
            obeyed = {c["id"]: p for c, (is_yes, p) in zip(lifted, others, strict=True) if is_yes}
        for claim, (is_supported, chance) in zip(case["claims"], decided, strict=True):
            is_contradicted = embedded.get(claim["id"], {}).get("verdict") == "contradicted"
            if claim["id"] in obeyed:
                anyway = obeyed[claim["id"]]
                is_supported = False
                chance = None if chance is None or anyway is None else round(1 - anyway, 4)
            row = build_chosen_row(claim, is_supported, chance, is_contradicted)
            if claim["id"] in obeyed:
                row["reason"] = compose("supported_by_anything")
            row["evidence"] = quote_evidence(
                claim["text"], row, case["sources"], code.find_evidence
            )
            verdicts.append(row)
    return {"verdicts": verdicts}


def _is_denied(row: Mapping[str, Any] | None) -> bool:
    return row is not None and row["verdict"] != "supported"


def state(text: str, case: Mapping[str, Any]) -> str:
    """Return a claim or source with the question that it answers, where the case has one."""
    return f"{case['question']} → {text}" if case.get("question") else text


def build_support_request(prompt: Prompt, sources: Sequence[str], claim: str) -> ChoiceRequest:
    """Build the plain question: whether the sources fully support a claim."""
    # without fences, which cost a small model accuracy; a source that gives orders is exposed by the invented claim
    texts = [neutralize(source.strip()) for source in sources]
    return build_request(prompt, {"sources": "\n\n".join(texts), "claim": to_one_line(claim)})


def build_chosen_row(
    claim: Mapping[str, Any], is_supported: bool, chance: float | None, is_contradicted: bool
) -> dict[str, Any]:
    """Return the row of a claim that a model decided, without its evidence."""
    verdict = "supported" if is_supported else "contradicted" if is_contradicted else "not_found"
    row = {"id": claim["id"], "verdict": verdict, "evidence": []}
    if chance is None:
        return {**row, "reason": compose("model_chose", verdict=verdict)}
    reason = compose("model_chose_with_chance", verdict=verdict, p=round(chance, 2))
    return {**row, "reason": reason, "probability": chance}


def quote_evidence(
    claim: str,
    row: Mapping[str, Any],
    sources: Sequence[Mapping[str, str]],
    find_evidence: Callable[[str, Sequence[str]], list[tuple[int, str]]],
) -> list[dict[str, str]]:
    """Return the closest sentence of the sources: of a supported claim the closest that can prove it, or the closest few that
    can together, since a claim may have its figures from two sentences."""
    from ragstone.text.claim_checks import find_quote_fault  # a slow import

    texts = [source["text"] for source in sources]
    found = find_evidence(claim, texts)
    chosen = found[:1]
    if row["verdict"] == "supported":
        sets = [[each] for each in found] + [found[:n] for n in range(2, len(found) + 1)]
        chosen = next(
            (
                some
                for some in sets
                if find_quote_fault(claim, [(quote, texts[n]) for n, quote in some]) is None
            ),
            chosen,
        )
    return [{"source": sources[index]["id"], "quote": quote} for index, quote in chosen]


CaseKey = tuple[str, tuple[str, ...]]
"""The question of a case, empty when it has none, and the texts of its sources."""


def _case_key(case: Mapping[str, Any]) -> CaseKey:
    return case.get("question", ""), list_texts(case["sources"])


def _collect_claims(asks: Sequence[Ask]) -> dict[CaseKey, dict[str, str]]:
    """The claims of each case, with the answer that a claim was made of; empty when it is not known."""
    claims_of: dict[CaseKey, dict[str, str]] = {}
    for ask in sorted(asks, key=lambda ask: list_texts(ask.values["cases"][0]["claims"])):
        (case,) = ask.values["cases"]
        claims = claims_of.setdefault(_case_key(case), {})
        for claim in case["claims"]:
            claims[claim["text"]] = claim.get("answer") or claims.get(claim["text"], "")
    return claims_of


def _unite_support(asks: Sequence[Ask]) -> tuple[Ask, Members]:
    """Build one `support` Ask of all claims of several, with one case for each set of sources."""
    claims_of = _collect_claims(asks)
    order = sorted(claims_of)
    united = support(
        *(
            Case(
                tuple(claims_of[key]),
                tuple(Chunk(text=text) for text in key[1]),
                tuple(claims_of[key].values()),
                key[0] or None,
            )
            for key in order
        )
    )
    merged_cases = dict(zip(order, united.values["cases"], strict=True))
    every_claim = [claim["id"] for case in merged_cases.values() for claim in case["claims"]]
    every_source = [source["id"] for case in merged_cases.values() for source in case["sources"]]
    members = []
    for ask in asks:
        (case,) = ask.values["cases"]
        merged_case = merged_cases[_case_key(case)]
        ids = {claim["text"]: claim["id"] for claim in merged_case["claims"]}
        ids_of_ask: dict[str, list[str]] = {merged_id: [] for merged_id in every_claim}
        for claim in case["claims"]:
            ids_of_ask[ids[claim["text"]]].append(claim["id"])
        # another case's source must not pass for a source of this Ask that has the same number
        names = {source_id: f"{source_id} of another case" for source_id in every_source}
        for source, merged_source in zip(case["sources"], merged_case["sources"], strict=True):
            names[merged_source["id"]] = source["id"]
        members.append((ask, extract_rows("verdicts", "id", ids_of_ask, names)))
    return replace(united, language=asks[0].language, repeat=asks[0].repeat), members


_TIE_BREAK = {"not_found": 0, "contradicted": 1, "supported": 2}
"""On a tie the verdict with the lowest number wins: the one that claims least."""


def _vote_on_verdicts(values: Sequence[Any]) -> tuple[Any, tuple[str, ...]]:
    """Return the majority's verdict on each claim; jurors that state probabilities decide by their mean."""
    rows, split = [], 0
    for ballot in align_rows([value["verdicts"] for value in values], "id"):
        votes = Counter(row["verdict"] for row in ballot)
        split += len(votes) > 1
        verdict = min(votes, key=lambda v: (-votes[v], _TIE_BREAK[v]))
        chance = _average_chances(ballot)
        if chance is not None and (chance >= 0.5) != (verdict == "supported"):
            fitting = [v for v in votes if (v == "supported") == (chance >= 0.5)]
            verdict = max(fitting, key=votes.__getitem__, default=verdict)
        winners = [row for row in ballot if row["verdict"] == verdict]
        evidence = [quote for row in winners for quote in row["evidence"]]
        unique = [quote for n, quote in enumerate(evidence) if quote not in evidence[:n]]
        row = {**winners[0], "evidence": unique}
        rows.append(row if chance is None else {**row, "probability": chance})
    return {"verdicts": rows}, note_disagreement(split, len(rows), "jury_split_verdicts")


def _average_chances(ballot: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the mean chance that a claim is supported; None where no juror states one, since then votes count."""
    if all(row.get("probability") is None for row in ballot):
        return None
    stated = [
        float(row["verdict"] == "supported")
        if row.get("probability") is None
        else row["probability"]
        for row in ballot
    ]
    return round(sum(stated) / len(stated), 4)


def _group_support(ask: Ask) -> Hashable | None:
    cases = ask.values["cases"]
    if len(cases) != 1:
        return None
    sources = list_texts(cases[0]["sources"])
    # long sources are sent once, for all claims about them; cases of a single source each (an answer and its
    # reference) are short, so all of them share one Ask
    return sources if len(sources) != 1 else ()


def _list_contents(ask: Ask) -> Iterator[tuple[ItemKey, Any]]:
    for case in ask.values["cases"]:
        sources = digest([source["text"] for source in case["sources"]])
        for claim in case["claims"]:
            yield (claim["id"], ""), [claim["text"], sources]


def _narrow(ask: Ask, asked: frozenset[ItemKey]) -> Ask:
    cases = []
    for case in ask.values["cases"]:
        claims = [claim for claim in case["claims"] if (claim["id"], "") in asked]
        if claims:
            cases.append({**case, "claims": claims})
    return replace(ask, values={**ask.values, "cases": cases})


KIND = register(
    Kind(
        "support",
        lambda language: support(Case(("x",), (Chunk(text="x"),)), language=language),
        spec=SupportSpec,
        choose=choose_support,
        prompts=("choose_support",),
        vote=_vote_on_verdicts,
        merge=Merge(_group_support, lambda asks: [_unite_support(asks)]),
        items=Items("verdicts", "verdict", _list_contents, _narrow),
    )
)
