"""What the model sees of a claim laid on its sources: one row of numbers a claim."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.alignment import CONTENT, Alignment, align, opposites
from ragstone.judges.offline.reading import (
    NAME,
    NEGATION,
    NUMBER,
    STOP,
    WORD,
    Floats,
    Ints,
    Reading,
)
from ragstone.judges.offline.tables import vectors
from ragstone.judges.offline.tokens import TOKEN_NAMES, token_features

NAMES: tuple[str, ...] = (
    "cover_all", "cover_best", "cover_pair", "cover_two", "cover_three", "cover_source",
    "soft_all", "soft_best", "soft_three", "soft_source",
    "plain_all", "plain_best", "content_best", "best_margin",
    "bigrams", "trigrams", "content_pairs", "density", "longest_run", "run_share",
    "rouge_l", "order",
    "local_mean", "local_min", "local_low", "local_names", "local_numbers",
    "numbers", "numbers_missing", "numbers_missing_best", "names", "names_missing",
    "names_missing_best", "names_missing_share",
    "missing", "missing_share", "missing_rarest", "missing_second", "missing_weight", "missing_soft",
    "negations", "negation_best", "negation_differs", "negation_local",
    "opposite", "opposite_local",
    "tokens", "rare_mean", "source_tokens", "source_sentences", "sources", "best_position", "best_tokens",
    "structured", "spanish", "capitals", "colon", "question", "hedge", "first_person", "meta", "quoted",
    "numbers_share", "list_item", "generic",
    "meaning_best", "meaning_max", "near_min", "near_mean", "back_best", "number_conflict", "name_conflict",
    "absolutes", "record_no", "record_null", "record_yes", "denied_tokens", "gap_words", "gap_near",
    "gap_numbers", "gap_names", "place", "claims",
)  # fmt: skip


def features(
    claims: Sequence[Reading], sources: Sequence[Reading]
) -> tuple[Floats, Floats, Alignment]:
    """One row of NAMES for each claim, one of TOKEN_NAMES for each of its tokens, and the alignment."""
    laid = align(claims, sources)
    table = np.zeros((len(claims), len(NAMES)), np.float32)
    columns = dict(zip(NAMES, table.T, strict=True))
    bounds = np.searchsorted(laid.claims.text, np.arange(len(claims) + 1)).tolist()
    _coverage(laid, bounds, columns)
    _missing(laid, bounds, columns)
    _wording(laid, bounds, columns)
    _negation(laid, bounds, columns)
    _shape(claims, sources, laid, columns)
    _, best = best_units(laid, bounds)
    tokens = token_features(
        laid,
        bounds,
        best,
        _polarity(sources, laid),
        bool(columns["structured"].any()),
        bool(columns["spanish"].any()),
    )
    _meaning(laid, bounds, best, columns)
    _from_tokens(laid, bounds, tokens, columns)
    return table, tokens, laid


def _polarity(sources: Sequence[Reading], laid: Alignment) -> npt.NDArray[np.int8]:
    found = (
        np.concatenate([source.polarity for source in sources]) if sources else np.zeros(0, np.int8)
    )
    return found[laid.units]


def _from_tokens(laid: Alignment, bounds: list[int], tokens: Floats, out: _Columns) -> None:
    """Sums over the words of a claim of what the tagger sees of each."""
    seen = dict(zip(TOKEN_NAMES, tokens.T, strict=True))
    content = (laid.claims.kinds != STOP).astype(np.float32)
    lost = content * (seen["found"] == 0)
    for name, values in (
        ("record_no", seen["record_no"] * (1 - seen["record_yes"])),
        ("record_null", seen["record_null"] * (1 - seen["record_yes"])),
        ("record_yes", seen["record_yes"]),
        ("denied_tokens", seen["denied_differs"] * content),
        ("gap_words", lost * (seen["gap"] > 0)),
        ("gap_numbers", seen["kind_number"] * (seen["found_best"] == 0) * seen["gap_number"]),
        ("gap_names", seen["kind_name"] * (seen["found_best"] == 0) * seen["gap_name"]),
    ):
        out[name][:] = _grouped(values.astype(np.float32), bounds)
    out["place"][:] = np.arange(len(bounds) - 1) / max(len(bounds) - 2, 1)
    out["claims"][:] = len(bounds) - 1
    for claim in range(len(bounds) - 1):
        a, b = bounds[claim], bounds[claim + 1]
        mine = content[a:b] > 0
        if mine.any():
            near = laid.near[a:b][mine]
            out["near_min"][claim], out["near_mean"][claim] = near.min(), near.mean()
            gaps = seen["gap_near"][a:b][(lost[a:b] > 0) & (seen["gap"][a:b] > 0)]
            out["gap_near"][claim] = gaps.min() if len(gaps) else 1.0


def _meaning(laid: Alignment, bounds: list[int], best: Ints, out: _Columns) -> None:
    """Cosine of weighted mean word vectors of claim and unit, and what the unit says beyond the claim."""
    left, right = laid.claims, laid.sources
    if not len(laid.units):
        return
    mine = _grouped(_vectors(left.rows, left.weights), bounds)
    theirs = np.add.reduceat(_vectors(right.rows, right.weights), laid.unit_starts, axis=0)
    mine /= np.maximum(np.linalg.norm(mine, axis=1, keepdims=True), 1e-6)
    theirs /= np.maximum(np.linalg.norm(theirs, axis=1, keepdims=True), 1e-6)
    cosine = mine @ theirs.T
    out["meaning_best"][:] = cosine[np.arange(len(best)), best]
    out["meaning_max"][:] = cosine.max(axis=1)
    ends = np.r_[laid.unit_starts[1:], len(right.ids)]
    for claim in range(len(best)):
        a, b = bounds[claim], bounds[claim + 1]
        unit = slice(laid.unit_starts[best[claim]], ends[best[claim]])
        shared = laid.exact[a:b, unit].any(axis=0)
        weight, kinds = right.weights[unit], right.kinds[unit]
        out["back_best"][claim] = (weight * shared).sum() / max(weight.sum(), 1e-6)
        gone = ~laid.hit[a:b, best[claim]]
        for name, kind in (("number_conflict", NUMBER), ("name_conflict", NAME)):
            ours = int(((left.kinds[a:b] == kind) & gone).sum())
            out[name][claim] = min(ours, int(((kinds == kind) & ~shared).sum()))


def _vectors(rows: Ints, weights: Floats) -> Floats:
    found = vectors()[1][rows].astype(np.float32)
    return found * (weights * (rows >= 0))[:, None]


_Columns = dict[str, Floats]


def _grouped(values: Floats, bounds: list[int]) -> Floats:
    """Sums of the rows of each claim; a claim without tokens gets 0."""
    summed = np.zeros((len(values) + 1, *values.shape[1:]), np.float64)
    np.cumsum(values, axis=0, dtype=np.float64, out=summed[1:])
    out: Floats = (summed[bounds[1:]] - summed[bounds[:-1]]).astype(np.float32)
    return out


def best_units(laid: Alignment, bounds: list[int]) -> tuple[Floats, Ints]:
    """Weighted share of each claim that each unit covers, and the unit that covers it best."""
    weight = _weights(laid)
    total = np.maximum(_grouped(weight, bounds), 1e-6)
    cover: Floats = (_grouped(laid.soft * weight[:, None], bounds) / total[:, None]).astype(
        np.float32
    )
    if cover.shape[1] == 0:
        return cover, np.full(len(bounds) - 1, -1, np.int32)
    return cover, cover.argmax(axis=1).astype(np.int32)


def _weights(laid: Alignment) -> Floats:
    return np.where(laid.claims.kinds == NEGATION, 0.3, laid.claims.weights).astype(np.float32)


def _coverage(laid: Alignment, bounds: list[int], out: _Columns) -> None:
    weight = _weights(laid)
    total = np.maximum(_grouped(weight, bounds), 1e-6)
    count = np.maximum(np.diff(bounds), 1)
    if laid.hit.shape[1] == 0:
        return
    hit = laid.hit.astype(np.float32)
    out["cover_all"][:] = _grouped(hit.max(axis=1) * weight, bounds) / total
    out["soft_all"][:] = _grouped(laid.soft.max(axis=1) * weight, bounds) / total
    out["plain_all"][:] = _grouped(hit.max(axis=1), bounds) / count
    content = np.isin(laid.claims.kinds, CONTENT)
    cover = _grouped(hit * weight[:, None], bounds) / total[:, None]
    soft = _grouped(laid.soft * weight[:, None], bounds) / total[:, None]
    out["cover_best"][:] = cover.max(axis=1)
    out["soft_best"][:] = soft.max(axis=1)
    out["plain_best"][:] = (_grouped(hit, bounds) / count[:, None]).max(axis=1)
    words = np.maximum(_grouped(content.astype(np.float32), bounds), 1)
    out["content_best"][:] = (_grouped(hit * content[:, None], bounds) / words[:, None]).max(axis=1)
    if cover.shape[1] > 1:
        two = np.partition(soft, -2, axis=1)
        out["best_margin"][:] = two[:, -1] - two[:, -2]
        pair = np.maximum(laid.hit[:, 1:], laid.hit[:, :-1])
        out["cover_pair"][:] = (_grouped(pair * weight[:, None], bounds) / total[:, None]).max(
            axis=1
        )
    else:
        out["cover_pair"][:] = out["cover_best"]
    owner = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    for values, names in (
        (hit, ("cover_two", "cover_three")),
        (laid.soft, ("", "soft_three")),
    ):
        base = _grouped(values * weight[:, None], bounds)
        sofar = values[np.arange(len(owner)), base.argmax(axis=1)[owner]]
        for name in names:
            gained = _grouped(np.maximum(values, sofar[:, None]) * weight[:, None], bounds)
            if name:
                out[name][:] = gained.max(axis=1) / total
            pick = gained.argmax(axis=1)[owner]
            sofar = np.maximum(sofar, values[np.arange(len(owner)), pick])
    starts = np.flatnonzero(np.r_[True, laid.unit_text[1:] != laid.unit_text[:-1]])
    for values, name in ((hit, "cover_source"), (laid.soft, "soft_source")):
        whole = np.maximum.reduceat(values, starts, axis=1)
        out[name][:] = (_grouped(whole * weight[:, None], bounds) / total[:, None]).max(axis=1)


def _missing(laid: Alignment, bounds: list[int], out: _Columns) -> None:
    kinds, weight = laid.claims.kinds, laid.claims.weights
    found = np.asarray(laid.hit.any(axis=1))
    near = laid.soft.max(axis=1) if laid.soft.shape[1] else np.zeros(len(kinds), np.float32)
    _, best = best_units(laid, bounds)
    for claim in range(len(bounds) - 1):
        a, b = bounds[claim], bounds[claim + 1]
        if a == b:
            continue
        kind, here = kinds[a:b], found[a:b]
        inside = laid.hit[a:b, best[claim]] if best[claim] >= 0 else np.zeros(b - a, bool)
        content = (kind == WORD) | (kind == NAME) | (kind == NUMBER)
        local = laid.local[a:b]
        number, name = kind == NUMBER, kind == NAME
        numbers, names = int(number.sum()), int(name.sum())
        out["numbers"][claim], out["names"][claim] = numbers, names
        out["numbers_share"][claim] = numbers / (b - a)
        out["numbers_missing"][claim] = (number & ~here).sum()
        out["numbers_missing_best"][claim] = (number & ~inside).sum()
        out["names_missing"][claim] = (name & ~here).sum()
        out["names_missing_best"][claim] = (name & ~inside).sum()
        out["names_missing_share"][claim] = (name & ~here).sum() / max(names, 1)
        lost = content & ~here
        rare = np.sort(weight[a:b][lost])[::-1]
        out["missing"][claim] = len(rare)
        out["missing_share"][claim] = len(rare) / max(int(content.sum()), 1)
        out["missing_rarest"][claim] = rare[0] if len(rare) else 0.0
        out["missing_second"][claim] = rare[1] if len(rare) > 1 else 0.0
        out["missing_weight"][claim] = rare.sum()
        out["missing_soft"][claim] = (weight[a:b] * (1 - near[a:b]))[lost].sum()
        out["local_names"][claim] = local[name].min() if names else 1.0
        out["local_numbers"][claim] = local[number].min() if numbers else 1.0
        if content.any():
            out["local_mean"][claim] = local[content].mean()
            out["local_min"][claim] = local[content].min()
            out["local_low"][claim] = (local[content] < 0.34).mean()
            out["rare_mean"][claim] = weight[a:b][content].mean()


def _wording(laid: Alignment, bounds: list[int], out: _Columns) -> None:
    left, right = laid.claims, laid.sources
    pairs = _ngram(right.ids, 2)
    triples = _ngram(right.ids, 3)
    main = right.ids[right.kinds != STOP]
    skips = (
        np.concatenate([_joined(main[:-gap], main[gap:]) for gap in (1, 2, 3)])
        if len(main) > 3
        else pairs
    )
    starts, _ = laid.unit_starts, 0
    ends = np.r_[starts[1:], len(right.ids)]
    _, best = best_units(laid, bounds)
    for claim in range(len(bounds) - 1):
        a, b = bounds[claim], bounds[claim + 1]
        if a == b:
            continue
        ids, runs = left.ids[a:b], laid.run[a:b]
        out["longest_run"][claim] = runs.max()
        out["run_share"][claim] = runs.max() / (b - a)
        out["density"][claim] = np.minimum(runs, 20).mean()
        out["bigrams"][claim] = _share(_ngram(ids, 2), pairs)
        out["trigrams"][claim] = _share(_ngram(ids, 3), triples)
        mine = ids[left.kinds[a:b] != STOP]
        out["content_pairs"][claim] = _share(_joined(mine[:-1], mine[1:]), skips)
        if best[claim] >= 0:
            unit = right.ids[starts[best[claim]] : ends[best[claim]]]
            common = _longest_common(ids.tolist(), unit.tolist())
            shared = int(laid.hit[a:b, best[claim]].sum())
            out["rouge_l"][claim] = common / (b - a)
            out["order"][claim] = common / max(shared, 1)
            out["best_tokens"][claim] = len(unit)
            out["best_position"][claim] = best[claim] / max(len(starts), 1)


def _joined(one: Ints, other: Ints) -> Ints:
    out: Ints = one.astype(np.int64) * 4_194_301 + other
    return out


def _ngram(ids: Ints, size: int) -> Ints:
    if len(ids) < size:
        return ids[:0]
    joined = ids
    for step in range(1, size):
        joined = _joined(joined[: len(ids) - step], ids[step:])
    return joined


def _share(some: Ints, known: Ints) -> float:
    return float(np.isin(some, known).mean()) if len(some) else 1.0


def _longest_common(one: list[int], other: list[int]) -> int:
    """Length of the longest common subsequence, by bit vectors."""
    places: dict[int, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | (1 << at)
    full = (1 << len(one)) - 1
    row = full
    for item in other:
        match = places.get(item, 0) & row
        row = ((row + match) | (row - match)) & full
    return len(one) - row.bit_count()


def _negation(laid: Alignment, bounds: list[int], out: _Columns) -> None:
    left, right = laid.claims, laid.sources
    denied_left = _denied(left.kinds == NEGATION, left.text)
    denied_right = _denied(right.kinds == NEGATION, right.sentence)
    contrary = opposites()
    starts = laid.unit_starts
    ends = np.r_[starts[1:], len(right.ids)]
    _, best = best_units(laid, bounds)
    for claim in range(len(bounds) - 1):
        a, b = bounds[claim], bounds[claim + 1]
        if a == b or best[claim] < 0:
            continue
        unit = slice(starts[best[claim]], ends[best[claim]])
        mine = int((left.kinds[a:b] == NEGATION).sum())
        theirs = int((right.kinds[unit] == NEGATION).sum())
        out["negations"][claim], out["negation_best"][claim] = mine, theirs
        out["negation_differs"][claim] = (mine % 2) != (theirs % 2)
        partner = laid.partner[a:b]
        tied = (partner >= 0) & (left.kinds[a:b] != STOP) & (left.kinds[a:b] != NEGATION)
        if tied.any():
            differs = denied_left[a:b][tied] != denied_right[partner[tied]]
            out["negation_local"][claim] = differs.mean()
        near_ids = set(right.ids[unit].tolist())
        for token in range(a, b):
            against = contrary.get(int(left.ids[token]))
            if against and not laid.hit[token, best[claim]] and against & near_ids:
                out["opposite"][claim] += 1
                out["opposite_local"][claim] += not laid.hit[token].any()


def _denied(negation: Ints, text: Ints) -> Ints:
    """Tokens that stand up to three after a negation in the same text."""
    out = np.zeros(len(negation), np.bool_)
    for step in (1, 2, 3):
        if len(negation) > step:
            out[step:] |= negation[:-step] & (text[step:] == text[:-step])
    return out  # type: ignore[return-value]


_HEDGES = (
    "may ",
    "might",
    "could",
    "possibl",
    "likely",
    "suggest",
    "appear",
    "seem",
    "podría",
    "quizá",
    "parece",
    "probable",
)
_FIRST = ("i ", "i'", "we ", "my ", "our ", "you ", "yo ", "mi ", "nos")
_META = (
    "passage", "context", "provided", "based on", "according to", "document", "mention", "given ",
    "summary", "article", "overall", "in conclusion", "según", "contexto", "pasaje", "resumen", "en general",
)  # fmt: skip
_ABSOLUTES = (
    "only", "all ", "every", "always", "never", "exclusively", "solely", "entirely", "completely", "any ",
    "solo ", "sólo", "únic", "todos", "todas", "siempre", "nunca", "exclusiv", "absolut", "jamás", "ningun",
    "ningún", "nadie", "cualquier", "total",
)  # fmt: skip
_GENERIC = (
    "popular", "variety", "option", "great", "experience", "atmosphere", "customers", "known for", "perfect",
    "recommend", "important", "ideal", "suitable", "worth", "choice",
)  # fmt: skip


def _shape(
    claims: Sequence[Reading], sources: Sequence[Reading], laid: Alignment, out: _Columns
) -> None:
    out["source_tokens"][:] = np.log1p(len(laid.sources.ids))
    out["source_sentences"][:] = np.log1p(len(laid.units))
    out["sources"][:] = len(sources)
    out["structured"][:] = any(source.structured for source in sources)
    for row, claim in enumerate(claims):
        text = claim.raw.strip()
        low = text.lower()
        letters = sum(char.isalpha() for char in text)
        out["tokens"][row] = len(claim.ids)
        out["spanish"][row] = claim.language == "es"
        out["capitals"][row] = sum(char.isupper() for char in text) / max(letters, 1)
        out["colon"][row] = text.endswith(":")
        out["question"][row] = text.endswith("?")
        out["hedge"][row] = sum(word in low for word in _HEDGES)
        out["first_person"][row] = any(low.startswith(w) or f" {w}" in low for w in _FIRST)
        out["meta"][row] = sum(word in low for word in _META)
        out["absolutes"][row] = sum(word in low for word in _ABSOLUTES)
        out["quoted"][row] = '"' in text or "“" in text
        out["list_item"][row] = text[:1] in "-*•" or text[:2].rstrip(".)").isdigit()
        out["generic"][row] = sum(word in low for word in _GENERIC)
