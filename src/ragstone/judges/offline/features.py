"""What the model sees of a claim laid on its sources: one row of numbers a claim, all claims at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ragstone.judges.offline.alignment import Alignment, Bools, align, borders, opposites
from ragstone.judges.offline.order import longest_common, neighbours, share
from ragstone.judges.offline.reading import NAME, NEGATION, NUMBER, STOP, Floats, Ints, Reading
from ragstone.judges.offline.shape import SHAPE, shape_of
from ragstone.judges.offline.tables import vectors
from ragstone.judges.offline.tokens import TOKEN_NAMES, token_features
from ragstone.judges.offline.view import View, view_of, weights_of

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


def features(
    claims: Sequence[Reading], sources: Sequence[Reading]
) -> tuple[Floats, Floats, Alignment]:
    """One row of NAMES for each claim, one of TAGGER_NAMES for each content token, and the alignment."""
    laid = align(claims, sources)
    table = np.zeros((len(claims), len(NAMES)), np.float32)
    out = dict(zip(NAMES[:-LOST], table.T, strict=False))
    _shape(claims, sources, laid, out)
    view = view_of(laid, len(claims))
    _missing(view, out)
    if len(laid.units) and len(laid.claims.ids):
        _coverage(view, out)
        _wording(view, out)
        _negation(view, out)
        _meaning(view, out)
    table[:, -LOST:] = _lost_meaning(view)
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


def _coverage(view: View, out: _Columns) -> None:
    laid = view.laid
    weight = weights_of(laid)
    hit = laid.hit.astype(np.float32)
    weighted, total = view.weighted, view.total
    below = total[:, None]
    count = view.sizes
    found, near, plain, words = view.totals(
        laid.found * weight, laid.most * weight, laid.found, view.content
    )
    out["cover_all"][:], out["soft_all"][:], out["plain_all"][:] = (
        found / total,
        near / total,
        plain / count,
    )
    cover, soft = weighted @ hit / below, view.cover
    out["cover_best"][:] = np.maximum.reduce(cover, axis=1)
    out["soft_best"][:] = np.maximum.reduce(soft, axis=1)
    out["plain_best"][:] = np.maximum.reduce(view.members @ hit / count[:, None], axis=1)
    worded = (view.members * view.content) @ hit / np.maximum(words, 1)[:, None]
    out["content_best"][:] = np.maximum.reduce(worded, axis=1)
    out["cover_pair"][:] = out["cover_best"]
    if cover.shape[1] > 1:
        two = np.partition(soft, -2, axis=1)
        out["best_margin"][:] = two[:, -1] - two[:, -2]
        pair = np.maximum(hit[:, 1:], hit[:, :-1])
        out["cover_pair"][:] = np.maximum.reduce(weighted @ pair / below, axis=1)
    _with_more_units(view, hit, cover, out)
    starts = borders(laid.unit_text)
    for values, name in ((hit, "cover_source"), (laid.soft, "soft_source")):
        whole = np.maximum.reduceat(values, starts, axis=1)
        out[name][:] = np.maximum.reduce(weighted @ whole / below, axis=1)


def _with_more_units(view: View, hit: Floats, cover: Floats, out: _Columns) -> None:
    """What the best unit covers together with a second and a third one."""
    weighted, total = view.weighted, view.total
    rows = np.arange(len(view.owner))
    for values, base, second, third in (
        (hit, cover.argmax(axis=1), "cover_two", "cover_three"),
        (view.laid.soft, view.best, "", "soft_three"),
    ):
        sofar = values[rows, base[view.owner]]
        gained = weighted @ np.maximum(values, sofar[:, None])
        if second:
            out[second][:] = np.maximum.reduce(gained, axis=1) / total
        sofar = np.maximum(sofar, values[rows, gained.argmax(axis=1)[view.owner]])
        gained = weighted @ np.maximum(values, sofar[:, None])
        out[third][:] = np.maximum.reduce(gained, axis=1) / total


def _missing(view: View, out: _Columns) -> None:
    laid, content = view.laid, view.content
    kinds, weight, local, found = laid.claims.kinds, laid.claims.weights, laid.local, laid.found
    number, name = kinds == NUMBER, kinds == NAME
    lost = content & ~found
    heavy = lost * weight
    sums = view.totals(
        content, number, name, number & ~found, number & ~view.inside, name & ~found, name & ~view.inside,
        lost, heavy, heavy * (1 - laid.most), local * content, (local < 0.34) & content, weight * content,
    )  # fmt: skip
    words, many = sums[0], np.maximum(sums[0], 1)
    for column, values in zip(_SUMMED, sums[1:10], strict=True):
        out[column][:] = values
    for column, values in zip(("local_mean", "local_low", "rare_mean"), sums[10:], strict=True):
        out[column][:] = values / many
    out["numbers_share"][:] = out["numbers"] / view.sizes
    out["names_missing_share"][:] = out["names_missing"] / np.maximum(out["names"], 1)
    out["missing_share"][:] = out["missing"] / many
    _rarest(view, lost, out)
    names, numbers, least, near, runs = view.least(
        np.where(name, local, 1.0),
        np.where(number, local, 1.0),
        np.where(content, local, 9.0),
        np.where(kinds != STOP, laid.near, 9.0),
        -laid.run,
        empty=(1.0, 1.0, 0.0, 0.0, 0.0),
    )
    out["local_names"][:], out["local_numbers"][:] = names, numbers
    out["local_min"][:] = np.where(words > 0, least, 0.0)
    out["near_min"][:] = np.where(near > 1, 0.0, near)
    out["longest_run"][:] = -runs


_SUMMED = (
    "numbers", "names", "numbers_missing", "numbers_missing_best", "names_missing", "names_missing_best",
    "missing", "missing_weight", "missing_soft",
)  # fmt: skip


def _lost_meaning(view: View) -> Floats:
    """What kind of words a claim adds: the vectors of those that no source has, the rarer the heavier."""
    claims = view.laid.claims
    lost = ((claims.kinds != STOP) & ~view.laid.found & (claims.rows >= 0)).nonzero()[0]
    found = vectors()[1][claims.rows[lost], -LOST:] * (claims.weights[lost] / 1270)[:, None]
    out = np.zeros((view.count, LOST), np.float32)
    np.add.at(out, view.owner[lost], found)  # reduceat adds up in another order
    return out


def _rarest(view: View, lost: Bools, out: _Columns) -> None:
    """The weights of the rarest and the second rarest missing word."""
    weights, owners = view.laid.claims.weights.tolist(), view.owner.tolist()
    first, second = [0.0] * view.count, [0.0] * view.count
    for token in lost.nonzero()[0].tolist():
        claim, weight = owners[token], weights[token]
        if weight > first[claim]:
            first[claim], second[claim] = weight, first[claim]
        elif weight > second[claim]:
            second[claim] = weight
    out["missing_rarest"][:], out["missing_second"][:] = first, second


def _wording(view: View, out: _Columns) -> None:
    laid = view.laid
    left, right, runs = laid.claims, laid.sources, laid.run
    out["run_share"][:] = out["longest_run"] / view.sizes
    two, three, dense, inside = view.totals(
        laid.tail > 1, laid.tail > 2, np.minimum(runs, 20), view.inside
    )
    out["density"][:] = dense / view.sizes
    # a run of two that ends in a token is a pair of neighbours that the sources have
    out["bigrams"][:] = share(two, view.sizes - 1)
    out["trigrams"][:] = share(three, view.sizes - 2)
    out["content_pairs"][:] = neighbours(laid, view.owner, 3, view.count)
    mine, others = left.ids.tolist(), right.ids.tolist()
    common = [
        longest_common(mine[a:b], others[low:high]) if a < b else 0
        for (a, b), low, high in zip(pairwise(view.bounds), view.begins, view.ends, strict=True)
    ]
    out["rouge_l"][:] = np.array(common) / view.sizes
    out["order"][:] = common / np.maximum(inside, 1)
    out["best_tokens"][:] = np.subtract(view.ends, view.begins)
    out["best_position"][:] = view.best / max(len(view.laid.unit_starts), 1)


def _negation(view: View, out: _Columns) -> None:
    left, right, laid = view.laid.claims, view.laid.sources, view.laid
    no_left, no_right = left.kinds == NEGATION, right.kinds == NEGATION
    tied = (laid.partner >= 0) & view.content
    denied_left, denied_right = _denied(no_left, left.text), _denied(no_right, right.sentence)
    differs = tied & (denied_left != denied_right[np.maximum(laid.partner, 0)])
    mine, apart, together = view.totals(no_left, differs, tied)
    theirs = np.add.reduceat(no_right.astype(np.int32), laid.unit_starts)[view.best]
    out["negations"][:], out["negation_best"][:] = mine, theirs
    out["negation_differs"][:] = mine.astype(np.int32) % 2 != theirs % 2
    out["negation_local"][:] = apart / np.maximum(together, 1)
    contrary = opposites()
    words = left.ids.tolist()
    if contrary.keys().isdisjoint(words):
        return
    for token, word in [(n, word) for n, word in enumerate(words) if word in contrary]:
        if view.inside[token]:
            continue
        claim = int(view.owner[token])
        unit = right.ids[view.begins[claim] : view.ends[claim]]
        if not contrary[word].isdisjoint(unit.tolist()):
            out["opposite"][claim] += 1
            out["opposite_local"][claim] += not laid.found[token]


def _denied(negation: Bools, text: Ints) -> Bools:
    """Tokens that stand up to three after a negation in the same text."""
    out = np.zeros(len(negation), np.bool_)
    for at in negation.nonzero()[0].tolist():
        out[at + 1 : at + 4] |= text[at + 1 : at + 4] == text[at]
    return out


def _meaning(view: View, out: _Columns) -> None:
    """Cosine of weighted mean word vectors of claim and unit, and what the unit says beyond the claim."""
    laid, left, right = view.laid, view.laid.claims, view.laid.sources
    mine = view.members @ _vectors(left.rows, left.weights)
    theirs = np.add.reduceat(_vectors(right.rows, right.weights), laid.unit_starts, axis=0)
    cosine = _unit(mine) @ _unit(theirs).T
    out["meaning_best"][:] = cosine[np.arange(view.count), view.best]
    out["meaning_max"][:] = np.maximum.reduce(cosine, axis=1)
    gone = list(
        zip(out["numbers_missing_best"].tolist(), out["names_missing_best"].tolist(), strict=True)
    )
    for claim, (low, high) in enumerate(zip(view.begins, view.ends, strict=True)):
        a, b = view.bounds[claim], view.bounds[claim + 1]
        both = np.logical_or.reduce(laid.exact[a:b, low:high], axis=0)
        weight = right.weights[low:high]
        whole = max(float(np.add.reduce(weight)), 1e-6)
        out["back_best"][claim] = np.add.reduce(weight[both]) / whole
        numbers, names = gone[claim]
        if numbers or names:
            kinds = right.kinds[low:high][~both].tolist()
            out["number_conflict"][claim] = min(numbers, kinds.count(NUMBER))
            out["name_conflict"][claim] = min(names, kinds.count(NAME))


def _unit(found: Floats) -> Floats:
    found /= np.maximum(np.sqrt(np.add.reduce(found * found, axis=1, keepdims=True)), 1e-6)
    return found


def _vectors(rows: Ints, weights: Floats) -> Floats:
    found = vectors()[1].take(rows, axis=0).astype(np.float32)
    found *= (weights * (rows >= 0))[:, None]
    return found


def _from_tokens(view: View, tokens: Floats, out: _Columns) -> None:
    """Sums over the content words of a claim of what the tagger sees of each."""
    kept = (view.laid.claims.kinds != STOP).nonzero()[0]
    seen = dict(zip(TOKEN_NAMES, tokens.T, strict=False))
    owner = view.owner[kept]
    lost = seen["found"] == 0
    in_gap = lost & (seen["gap"] > 0)
    not_yes, gone = 1 - seen["record_yes"], seen["found_best"] == 0
    sums = view.totals_of(
        kept,
        seen["record_no"] * not_yes,
        seen["record_null"] * not_yes,
        seen["record_yes"],
        seen["denied_differs"],
        in_gap,
        seen["kind_number"] * gone * seen["gap_number"],
        seen["kind_name"] * gone * seen["gap_name"],
    )
    for name, values in zip(_COUNTED, sums, strict=True):
        out[name][:] = values
    out["place"][:] = np.arange(view.count) / max(view.count - 1, 1)
    out["claims"][:] = view.count
    many = np.maximum(np.bincount(owner, minlength=view.count), 1)
    out["near_mean"][:] = np.bincount(owner, view.laid.near[kept], view.count) / many
    out["gap_near"][:] = 1.0
    if in_gap.any():
        of = owner[in_gap]
        starts = borders(of)
        least = np.minimum.reduceat(seen["gap_near"][in_gap], starts)
        out["gap_near"][of[starts]] = np.minimum(least, 1.0)


_COUNTED = (
    "record_no", "record_null", "record_yes", "denied_tokens", "gap_words", "gap_numbers", "gap_names",
)  # fmt: skip


def _shape(
    claims: Sequence[Reading], sources: Sequence[Reading], laid: Alignment, out: _Columns
) -> None:
    out["source_tokens"][:] = np.log1p(len(laid.sources.ids))
    out["source_sentences"][:] = np.log1p(len(laid.units))
    out["structured"][:] = any(source.structured for source in sources)
    out["tokens"][:] = [len(claim.ids) for claim in claims]
    for name, values in zip(
        SHAPE, zip(*(shape_of(claim.raw) for claim in claims), strict=True), strict=True
    ):
        out[name][:] = values
