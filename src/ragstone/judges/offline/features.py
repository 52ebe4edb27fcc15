"""What the model sees of a claim laid on its sources: one row of numbers a claim, all claims at once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ragstone.judges.offline.alignment import Alignment, Bools, align, borders, opposites
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, Floats, Ints, Reading
from ragstone.judges.offline.tables import vectors
from ragstone.judges.offline.tokens import TAGGER_NAMES, token_features

NAMES: tuple[str, ...] = (
    "cover_all", "cover_best", "cover_pair", "cover_two", "cover_three", "cover_source",
    "soft_all", "soft_best", "soft_three", "soft_source",
    "plain_all", "plain_best", "content_best", "best_margin",
    "bigrams", "trigrams", "content_pairs", "density", "longest_run", "run_share", "rouge_l", "order",
    "local_mean", "local_min", "local_low", "local_names", "local_numbers",
    "numbers", "numbers_missing", "numbers_missing_best", "names", "names_missing",
    "names_missing_best", "names_missing_share",
    "missing", "missing_share", "missing_rarest", "missing_second", "missing_weight", "missing_soft",
    "negations", "negation_best", "negation_differs", "negation_local", "opposite", "opposite_local",
    "tokens", "rare_mean", "source_tokens", "source_sentences", "best_position", "best_tokens",
    "structured", "capitals", "colon", "question", "hedge", "first_person", "meta", "quoted",
    "numbers_share", "list_item", "generic", "absolutes",
    "meaning_best", "meaning_max", "near_min", "near_mean", "back_best", "number_conflict", "name_conflict",
    "record_no", "record_null", "record_yes", "denied_tokens", "gap_words", "gap_near",
    "gap_numbers", "gap_names", "place", "claims",
    *(f"lost_{n}" for n in range(32)),
)  # fmt: skip
LOST = 32
"""How many figures of the word vectors are summed over the words of a claim that no source has."""

_Columns = dict[str, Floats]


@dataclass(slots=True)
class _View:
    """An alignment with what every part of the features needs."""

    laid: Alignment
    count: int
    bounds: list[int]
    owner: Ints
    members: Floats
    """Claim × token: 1 where the token belongs to the claim."""
    best: Ints
    ends: Ints
    content: Bools
    found: Bools
    inside: Bools
    """Token stands in the best unit of its claim."""

    def total(self, values: npt.NDArray[np.generic]) -> Floats:
        """Sum over the tokens of each claim."""
        return np.bincount(self.owner, values, self.count).astype(np.float32)

    def least(self, values: Floats, empty: float) -> Floats:
        """Minimum over the tokens of each claim."""
        out = np.full(self.count, empty, np.float32)
        filled = np.flatnonzero(np.diff(self.bounds))
        if len(filled):
            out[filled] = np.minimum.reduceat(values, np.array(self.bounds)[filled])
        return out


def features(
    claims: Sequence[Reading], sources: Sequence[Reading]
) -> tuple[Floats, Floats, Alignment]:
    """One row of NAMES for each claim, one of TAGGER_NAMES for each content token, and the alignment."""
    laid = align(claims, sources)
    table = np.zeros((len(claims), len(NAMES)), np.float32)
    out = dict(zip(NAMES, table.T, strict=True))
    _shape(claims, sources, laid, out)
    view = _view(laid, len(claims))
    if len(laid.units) and len(laid.claims.ids):
        _coverage(view, out)
        _wording(view, out)
        _negation(view, out)
        _meaning(view, out)
    _missing(view, out)
    table[:, NAMES.index("lost_0") :] = _lost_meaning(view)
    polarity = np.concatenate([source.polarity for source in sources]) if sources else None
    tokens = token_features(
        laid,
        view.bounds,
        view.best,
        np.zeros(0, np.int8) if polarity is None else polarity[laid.units],
        bool(out["structured"].any()),
    )
    _from_tokens(view, tokens, out)
    return table, tokens, laid


def _view(laid: Alignment, count: int) -> _View:
    bounds: list[int] = np.searchsorted(laid.claims.text, np.arange(count + 1)).tolist()
    owner = laid.claims.text
    members = (np.arange(count)[:, None] == owner[None, :]).astype(np.float32)
    _, best = best_units(laid, bounds)
    rows = np.arange(len(owner))
    some = len(laid.units) > 0
    return _View(
        laid=laid,
        count=count,
        bounds=bounds,
        owner=owner,
        members=members,
        best=best,
        ends=laid.unit_ends,
        content=(laid.claims.kinds != STOP) & (laid.claims.kinds != NEGATION),
        found=np.asarray(laid.hit.any(axis=1)) if some else np.zeros(len(owner), np.bool_),
        inside=laid.hit[rows, best[owner]] if some else np.zeros(len(owner), np.bool_),
    )


def best_units(laid: Alignment, bounds: list[int]) -> tuple[Floats, Ints]:
    """Weighted share of each claim that each unit covers, and the unit that covers it best."""
    weight = _weights(laid)
    members = (np.arange(len(bounds) - 1)[:, None] == laid.claims.text[None, :]) * weight
    total = np.maximum(members.sum(axis=1), 1e-6)
    cover: Floats = (members @ laid.soft / total[:, None]).astype(np.float32)
    if cover.shape[1] == 0:
        return cover, np.full(len(bounds) - 1, -1, np.int32)
    return cover, cover.argmax(axis=1).astype(np.int32)


def _weights(laid: Alignment) -> Floats:
    return np.where(laid.claims.kinds == NEGATION, 0.3, laid.claims.weights).astype(np.float32)


def _coverage(view: _View, out: _Columns) -> None:
    laid = view.laid
    weight = _weights(laid)
    hit = laid.hit.astype(np.float32)
    weighted = view.members * weight
    total = np.maximum(weighted.sum(axis=1), 1e-6)
    count = np.maximum(np.diff(view.bounds), 1)
    words = np.maximum(view.total(view.content), 1)
    out["cover_all"][:] = view.total(view.found * weight) / total
    out["soft_all"][:] = view.total(laid.soft.max(axis=1) * weight) / total
    out["plain_all"][:] = view.total(view.found) / count
    cover = weighted @ hit / total[:, None]
    soft = weighted @ laid.soft / total[:, None]
    out["cover_best"][:] = cover.max(axis=1)
    out["soft_best"][:] = soft.max(axis=1)
    out["plain_best"][:] = (view.members @ hit / count[:, None]).max(axis=1)
    out["content_best"][:] = ((view.members * view.content) @ hit / words[:, None]).max(axis=1)
    out["cover_pair"][:] = out["cover_best"]
    if cover.shape[1] > 1:
        two = np.partition(soft, -2, axis=1)
        out["best_margin"][:] = two[:, -1] - two[:, -2]
        pair = np.maximum(hit[:, 1:], hit[:, :-1])
        out["cover_pair"][:] = (weighted @ pair / total[:, None]).max(axis=1)
    rows = np.arange(len(view.owner))
    for values, base, names in (
        (hit, cover, ("cover_two", "cover_three")),
        (laid.soft, soft, ("", "soft_three")),
    ):
        sofar = values[rows, base.argmax(axis=1)[view.owner]]
        for name in names:
            gained = weighted @ np.maximum(values, sofar[:, None])
            if name:
                out[name][:] = gained.max(axis=1) / total
            sofar = np.maximum(sofar, values[rows, gained.argmax(axis=1)[view.owner]])
    starts = borders(laid.unit_text)
    for values, name in ((hit, "cover_source"), (laid.soft, "soft_source")):
        whole = np.maximum.reduceat(values, starts, axis=1)
        out[name][:] = (weighted @ whole / total[:, None]).max(axis=1)


def _missing(view: _View, out: _Columns) -> None:
    laid = view.laid
    kinds, weight = laid.claims.kinds, laid.claims.weights
    near = laid.soft.max(axis=1) if laid.soft.shape[1] else np.zeros(len(kinds), np.float32)
    number, name = kinds == NUMBER, kinds == NAME
    words = view.total(view.content)
    many = np.maximum(words, 1)
    out["numbers"][:], out["names"][:] = view.total(number), view.total(name)
    out["numbers_share"][:] = out["numbers"] / np.maximum(np.diff(view.bounds), 1)
    out["numbers_missing"][:] = view.total(number & ~view.found)
    out["numbers_missing_best"][:] = view.total(number & ~view.inside)
    out["names_missing"][:] = view.total(name & ~view.found)
    out["names_missing_best"][:] = view.total(name & ~view.inside)
    out["names_missing_share"][:] = out["names_missing"] / np.maximum(out["names"], 1)
    lost = view.content & ~view.found
    out["missing"][:] = view.total(lost)
    out["missing_share"][:] = out["missing"] / many
    out["missing_weight"][:] = view.total(lost * weight)
    out["missing_soft"][:] = view.total(lost * weight * (1 - near))
    _rarest(view, lost, out)
    local = laid.local
    out["local_names"][:] = view.least(np.where(name, local, 1.0).astype(np.float32), 1.0)
    out["local_numbers"][:] = view.least(np.where(number, local, 1.0).astype(np.float32), 1.0)
    some = words > 0
    out["local_mean"][:] = view.total(local * view.content) / many
    out["local_min"][some] = view.least(np.where(view.content, local, 9.0).astype(np.float32), 0.0)[
        some
    ]
    out["local_low"][:] = view.total((local < 0.34) & view.content) / many
    out["rare_mean"][:] = view.total(weight * view.content) / many


def _lost_meaning(view: _View) -> Floats:
    """What kind of words a claim adds: the vectors of those that no source has, the rarer the heavier."""
    claims = view.laid.claims
    lost = np.flatnonzero((claims.kinds != STOP) & ~view.found & (claims.rows >= 0))
    found = vectors()[1][claims.rows[lost], -LOST:] * (claims.weights[lost] / 1270)[:, None]
    out = np.zeros((view.count, LOST), np.float32)
    np.add.at(out, view.owner[lost], found)
    return out


def _rarest(view: _View, lost: Bools, out: _Columns) -> None:
    """The weights of the rarest and the second rarest missing word."""
    at = np.flatnonzero(lost)
    if not len(at):
        return
    weight = view.laid.claims.weights
    order = at[np.lexsort((-weight[at], view.owner[at]))]
    owner = view.owner[order]
    first = borders(owner)
    out["missing_rarest"][owner[first]] = weight[order[first]]
    second = first[first + 1 < len(order)] + 1
    second = second[owner[second] == owner[second - 1]]
    out["missing_second"][owner[second]] = weight[order[second]]


def _wording(view: _View, out: _Columns) -> None:
    left, right = view.laid.claims, view.laid.sources
    runs = view.laid.run
    size = np.maximum(np.diff(view.bounds), 1)
    out["longest_run"][:] = -view.least((-runs).astype(np.float32), 0.0)
    out["run_share"][:] = out["longest_run"] / size
    out["density"][:] = view.total(np.minimum(runs, 20)) / size
    ours, theirs = left.ids.astype(np.int64), right.ids.astype(np.int64)
    out["bigrams"][:] = _shared(ours, theirs, view.owner, 2, (1,), view.count)
    out["trigrams"][:] = _shared(ours, theirs, view.owner, 3, (1,), view.count)
    main = left.kinds != STOP
    rest = theirs[right.kinds != STOP]
    out["content_pairs"][:] = _shared(ours[main], rest, view.owner[main], 2, (1, 2, 3), view.count)
    starts = view.laid.unit_starts
    for claim in range(view.count):
        a, b = view.bounds[claim], view.bounds[claim + 1]
        if a == b:
            continue
        unit = slice(starts[view.best[claim]], view.ends[view.best[claim]])
        common = _longest_common(left.ids[a:b].tolist(), right.ids[unit].tolist())
        out["rouge_l"][claim] = common / (b - a)
        out["order"][claim] = common
    out["order"][:] /= np.maximum(view.total(view.inside), 1)
    out["best_tokens"][:] = (view.ends - starts)[view.best]
    out["best_position"][:] = view.best / max(len(starts), 1)


def _shared(
    ours: npt.NDArray[np.int64],
    theirs: npt.NDArray[np.int64],
    owner: Ints,
    size: int,
    gaps: tuple[int, ...],
    count: int,
) -> Floats:
    """Share of a claim's neighbouring words that are neighbours in the sources too; 1 without any."""
    out = np.ones(count, np.float32)
    mine = _grams(ours, size, 1)
    if not len(mine):
        return out
    inside = owner[: len(mine)] == owner[size - 1 :]
    known = np.concatenate([_grams(theirs, size, gap) for gap in gaps])
    there = np.isin(mine, known) & inside
    of = owner[: len(mine)]
    total = np.bincount(of, inside, count)
    some = total > 0
    out[some] = np.bincount(of, there, count)[some] / total[some]
    return out


def _grams(ids: npt.NDArray[np.int64], size: int, gap: int) -> npt.NDArray[np.int64]:
    reach = (size - 1) * gap
    if len(ids) <= reach:
        return ids[:0]
    joined = ids[: len(ids) - reach]
    for step in range(1, size):
        joined = joined * 1_000_003 + ids[step * gap : len(ids) - reach + step * gap]
    return joined


def _longest_common(one: list[int], other: list[int]) -> int:
    """Length of the longest common subsequence, by bit vectors."""
    places: dict[int, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | (1 << at)
    full = (1 << len(one)) - 1
    row = full
    for item in other:
        match = places.get(item)
        if match:
            match &= row
            row = ((row + match) | (row - match)) & full
    return len(one) - row.bit_count()


def _negation(view: _View, out: _Columns) -> None:
    left, right, laid = view.laid.claims, view.laid.sources, view.laid
    no_left, no_right = left.kinds == NEGATION, right.kinds == NEGATION
    mine = view.total(no_left)
    theirs = np.add.reduceat(no_right.astype(np.int32), laid.unit_starts)[view.best]
    out["negations"][:], out["negation_best"][:] = mine, theirs
    out["negation_differs"][:] = mine.astype(np.int32) % 2 != theirs % 2
    tied = (laid.partner >= 0) & view.content
    denied_left, denied_right = _denied(no_left, left.text), _denied(no_right, right.sentence)
    differs = tied & (denied_left != denied_right[np.maximum(laid.partner, 0)])
    out["negation_local"][:] = view.total(differs) / np.maximum(view.total(tied), 1)
    contrary = opposites()
    for token, word in enumerate(left.ids.tolist()):
        if word not in contrary or view.inside[token]:
            continue
        claim = int(view.owner[token])
        unit = right.ids[laid.unit_starts[view.best[claim]] : view.ends[view.best[claim]]]
        if contrary[word] & set(unit.tolist()):
            out["opposite"][claim] += 1
            out["opposite_local"][claim] += not view.found[token]


def _denied(negation: Bools, text: Ints) -> Bools:
    """Tokens that stand up to three after a negation in the same text."""
    out = np.zeros(len(negation), np.bool_)
    for step in (1, 2, 3):
        if len(negation) > step:
            out[step:] |= negation[:-step] & (text[step:] == text[:-step])
    return out


def _meaning(view: _View, out: _Columns) -> None:
    """Cosine of weighted mean word vectors of claim and unit, and what the unit says beyond the claim."""
    laid, left, right = view.laid, view.laid.claims, view.laid.sources
    mine = view.members @ _vectors(left.rows, left.weights)
    theirs = np.add.reduceat(_vectors(right.rows, right.weights), laid.unit_starts, axis=0)
    mine /= np.maximum(np.linalg.norm(mine, axis=1, keepdims=True), 1e-6)
    theirs /= np.maximum(np.linalg.norm(theirs, axis=1, keepdims=True), 1e-6)
    cosine = mine @ theirs.T
    out["meaning_best"][:] = cosine[np.arange(view.count), view.best]
    out["meaning_max"][:] = cosine.max(axis=1)
    gone = {kind: view.total((left.kinds == kind) & ~view.inside) for kind in (NUMBER, NAME)}
    for claim in range(view.count):
        a, b = view.bounds[claim], view.bounds[claim + 1]
        unit = slice(laid.unit_starts[view.best[claim]], view.ends[view.best[claim]])
        shared = np.asarray(laid.exact[a:b, unit].any(axis=0))
        weight, kinds = right.weights[unit], right.kinds[unit][~shared]
        out["back_best"][claim] = weight[shared].sum() / max(float(weight.sum()), 1e-6)
        for name, kind in (("number_conflict", NUMBER), ("name_conflict", NAME)):
            if gone[kind][claim]:
                out[name][claim] = min(gone[kind][claim], int((kinds == kind).sum()))


def _vectors(rows: Ints, weights: Floats) -> Floats:
    found = vectors()[1][rows].astype(np.float32)
    found *= (weights * (rows >= 0))[:, None]
    return found


def _from_tokens(view: _View, tokens: Floats, out: _Columns) -> None:
    """Sums over the content words of a claim of what the tagger sees of each."""
    kept = np.flatnonzero(view.laid.claims.kinds != STOP)
    seen = dict(zip(TAGGER_NAMES, tokens.T, strict=True))
    owner = view.owner[kept]
    lost = seen["found"] == 0
    in_gap = lost & (seen["gap"] > 0)
    for name, values in (
        ("record_no", seen["record_no"] * (1 - seen["record_yes"])),
        ("record_null", seen["record_null"] * (1 - seen["record_yes"])),
        ("record_yes", seen["record_yes"]),
        ("denied_tokens", seen["denied_differs"]),
        ("gap_words", in_gap),
        ("gap_numbers", seen["kind_number"] * (seen["found_best"] == 0) * seen["gap_number"]),
        ("gap_names", seen["kind_name"] * (seen["found_best"] == 0) * seen["gap_name"]),
    ):
        out[name][:] = np.bincount(owner, values, view.count)
    out["place"][:] = np.arange(view.count) / max(view.count - 1, 1)
    out["claims"][:] = view.count
    near = np.where(view.laid.claims.kinds != STOP, view.laid.near, 9.0).astype(np.float32)
    least = view.least(near, 0.0)
    out["near_min"][:] = np.where(least > 1, 0.0, least)
    many = np.maximum(np.bincount(owner, minlength=view.count), 1)
    out["near_mean"][:] = np.bincount(owner, view.laid.near[kept], view.count) / many
    out["gap_near"][:] = 1.0
    np.minimum.at(out["gap_near"], owner[in_gap], seen["gap_near"][in_gap])


_HEDGES = re.compile(
    r"\bmay |might|could|possibl|likely|suggest|appear|seem|podría|quizá|parece|probable"
)
_FIRST = re.compile(r"(?:^|\s)(?:i |i'|we |my |our |you |yo |mi |nos)")
_META = re.compile(
    r"passage|context|provided|based on|according to|document|mention|given |summary|article|overall|"
    r"in conclusion|según|pasaje|resumen|en general"
)
_ABSOLUTES = re.compile(
    r"only|all |every|always|never|exclusiv|solely|entirely|completely|any |solo |sólo|únic|todos|todas|siempre|"
    r"nunca|absolut|jamás|ningun|ningún|nadie|cualquier|total"
)
_GENERIC = re.compile(
    r"popular|variety|option|great|experience|atmosphere|customers|known for|perfect|recommend|important|ideal|"
    r"suitable|worth|choice"
)
_COUNTED = (
    ("hedge", _HEDGES),
    ("meta", _META),
    ("absolutes", _ABSOLUTES),
    ("generic", _GENERIC),
)


def _shape(
    claims: Sequence[Reading], sources: Sequence[Reading], laid: Alignment, out: _Columns
) -> None:
    out["source_tokens"][:] = np.log1p(len(laid.sources.ids))
    out["source_sentences"][:] = np.log1p(len(laid.units))
    out["structured"][:] = any(source.structured for source in sources)
    for row, claim in enumerate(claims):
        text = claim.raw.strip()
        low = text.lower()
        out["tokens"][row] = len(claim.ids)
        letters = sum(map(str.isalpha, text))
        out["capitals"][row] = sum(map(str.isupper, text)) / max(letters, 1)
        out["colon"][row] = text.endswith(":")
        out["question"][row] = text.endswith("?")
        for name, pattern in _COUNTED:
            out[name][row] = len(pattern.findall(low))
        out["first_person"][row] = _FIRST.search(low) is not None
        out["quoted"][row] = '"' in text or "“" in text
        out["list_item"][row] = text[:1] in "-*•" or text[:2].rstrip(".)").isdigit()
