"""Fit the models of the offline judge: doubtful words, supported claims, Spanish claims, whole responses."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
from examples import TAGGER_NAMES, Example
from spanish import entailment, fit_spanish, is_spanish
from whole import Whole, choose_bars, fit_whole

from ragstone.judges.offline.features import NAMES
from ragstone.judges.offline.responses import TAGGED
from ragstone.judges.offline.spanish import blend
from ragstone.judges.offline.verdicts import doubts

SEED = 7
LEFT_OUT = frozenset({"claims"})
"""Features that would tell the model which set a row is from rather than whether it is supported."""
CLAIM_NAMES = (*(name for name in NAMES if name not in LEFT_OUT), *TAGGED)
SYNTHETIC = 0.1
"""Weight of made-up claims against labelled ones of the same set."""

_SHARED: dict[str, Any] = {
    "objective": "binary",
    "verbose": -1,
    "num_threads": 1,
    "seed": SEED,
    "deterministic": True,
    "force_row_wise": True,
    "bagging_freq": 1,
}
TOKEN = _SHARED | {
    "learning_rate": 0.1,
    "num_leaves": 24,
    "max_depth": 7,
    "min_data_in_leaf": 100,
    "feature_fraction": 0.5,
    "bagging_fraction": 0.5,
    "lambda_l2": 5.0,
}
TOKEN_ROUNDS = 120
CLAIM = _SHARED | {
    "learning_rate": 0.05,
    "num_leaves": 31,
    "max_depth": 8,
    "min_data_in_leaf": 40,
    "feature_fraction": 0.4,
    "bagging_fraction": 0.7,
    "lambda_l2": 5.0,
}
CLAIM_ROUNDS = 260


def fold_of(group: str, count: int, salt: str = "f") -> int:
    """The fold of a source document: all its rows share it."""
    return zlib.crc32(f"{salt}{group}".encode()) % count


@dataclass
class Fitted:
    """The models of one fit."""

    token: lgb.Booster
    claim: lgb.Booster
    spanish: lgb.Booster
    whole: Whole
    bars: dict[str, float]
    """What an answer must reach to pass as a whole, by language."""

    def claims(self, example: Example) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """How likely each claim is supported, and its full table."""
        doubt = self.token.predict(example.tokens) if len(example.tokens) else np.zeros(0)
        table = np.hstack([example.table, doubts(doubt, _bounds(example))])
        return _chances(example, table, self.claim, self.spanish), table


_COLUMNS = [(*NAMES, *TAGGED).index(name) for name in CLAIM_NAMES]


def fit(examples: list[Example], inner: int = 4) -> Fitted:
    """Models from examples; what one model gives the next is predicted out of fold."""
    fold = np.array([fold_of(e.row["group"], inner, "inner") for e in examples])
    tables: list[np.ndarray[Any, Any]] = [np.empty(0)] * len(examples)
    for number in range(inner):
        token = _fit_token(
            [
                e
                for e, f in zip(examples, fold, strict=True)
                if f != number and not e.row.get("crowded")
            ]
        )
        held = np.flatnonzero(fold == number)
        doubt = token.predict(np.vstack([examples[n].tokens for n in held]))
        at = 0
        for n in held:
            size = len(examples[n].tokens)
            tables[n] = np.hstack(
                [examples[n].table, doubts(doubt[at : at + size], _bounds(examples[n]))]
            )
            at += size
    plain = [n for n, e in enumerate(examples) if not e.row.get("crowded")]
    labels = [np.array(e.labels) for e in examples]
    first = _out_of_fold(examples, tables, labels, fold, plain)
    for n in plain:  # of a false response without marks, the weakest claim is false
        if examples[n].row["label"] == 0 and (labels[n] < 0).all():
            labels[n][int(np.argmin(first[n]))] = 0
    chances = _out_of_fold(examples, tables, labels, fold, plain)
    _ask_again(examples, tables, labels, fold, chances)
    own = [examples[n] for n in plain]
    own_tables, own_chances = [tables[n] for n in plain], [chances[n] for n in plain]
    return Fitted(
        token=_fit_token(own),
        claim=_fit_claim(own, own_tables, [labels[n] for n in plain]),
        spanish=fit_spanish(examples, tables, labels),
        whole=fit_whole(own, own_chances, own_tables),
        bars=choose_bars(own, own_chances, own_tables, fold[plain], inner),
    )


def _ask_again(
    examples: list[Example],
    tables: list[np.ndarray[Any, Any]],
    labels: list[np.ndarray[Any, Any]],
    fold: np.ndarray[Any, Any],
    chances: dict[int, np.ndarray[Any, Any]],
) -> None:
    """Put the second opinion on Spanish claims, out of fold like the first, into what was found."""
    for number in sorted(set(fold.tolist())):
        kept = np.flatnonzero(fold != number).tolist()
        spanish = fit_spanish(
            [examples[n] for n in kept], [tables[n] for n in kept], [labels[n] for n in kept]
        )
        for n in chances:
            if fold[n] == number and is_spanish(examples[n]):
                first = np.log(chances[n] / (1 - chances[n]))
                chances[n] = _chance(blend(first, entailment(spanish, tables[n])))


def _chances(
    example: Example, table: np.ndarray[Any, Any], claim: lgb.Booster, spanish: lgb.Booster
) -> np.ndarray[Any, Any]:
    """How likely each claim is supported, by the trees for all languages and those for Spanish."""
    logit = claim.predict(table[:, _COLUMNS], raw_score=True)
    return _chance(blend(logit, entailment(spanish, table)) if is_spanish(example) else logit)


def _chance(logit: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = 1 / (1 + np.exp(-logit))
    return found


def _bounds(example: Example) -> list[int]:
    found: list[int] = np.searchsorted(example.owner, np.arange(len(example.claims) + 1)).tolist()
    return found


def _fit_token(examples: list[Example]) -> lgb.Booster:
    used = [e for e in examples if (e.marks >= 0).any()]
    rows = np.vstack([e.tokens for e in used])
    marks = np.concatenate([e.marks for e in used])
    weight = np.concatenate([np.full(len(e.marks), _token_weight(e.row)) for e in used])
    known = marks >= 0
    data = lgb.Dataset(
        rows[known], marks[known], weight=weight[known], feature_name=list(TAGGER_NAMES)
    )
    return lgb.train(TOKEN, data, TOKEN_ROUNDS)


def _token_weight(row: dict[str, Any]) -> float:
    if row.get("synthetic"):
        return 0.4
    return 1.0 if row["set"] in ("ragtruth_test", "summedits") else 0.5


def _fit_claim(
    examples: list[Example], tables: list[np.ndarray[Any, Any]], labels: list[np.ndarray[Any, Any]]
) -> lgb.Booster:
    rows = np.vstack(tables)[:, _COLUMNS]
    label = np.concatenate(labels)
    weight = _claim_weights(examples, label)
    known = label >= 0
    data = lgb.Dataset(
        rows[known], label[known], weight=weight[known], feature_name=list(CLAIM_NAMES)
    )
    return lgb.train(CLAIM, data, CLAIM_ROUNDS)


def _claim_weights(examples: list[Example], label: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Sets count by the root of their size, and in each set both labels alike: no set's share of
    false claims leaks into the judgement of another's."""
    names = np.concatenate(
        [
            np.full(len(e.claims), f"{e.row['set']}{'+' if e.row.get('synthetic') else ''}")
            for e in examples
        ]
    )
    weight = np.zeros(len(label))
    for name in sorted(set(names.tolist())):
        size = np.sqrt(((names == name) & (label >= 0)).sum())
        for value in (0, 1):
            mine = (names == name) & (label == value)
            weight[mine] = size * _emphasis(name) / max(mine.sum(), 1)
    return weight * (label >= 0).sum() / weight.sum()


def _emphasis(name: str) -> float:
    """Answers of RAG systems are what the judge is for; they count threefold."""
    if name.endswith("+"):
        return SYNTHETIC
    return 3.0 if name == "ragtruth_test" else 1.0


def _out_of_fold(
    examples: list[Example],
    tables: list[np.ndarray[Any, Any]],
    labels: list[np.ndarray[Any, Any]],
    fold: np.ndarray[Any, Any],
    used: list[int],
) -> dict[int, np.ndarray[Any, Any]]:
    """For the numbers of the examples that are used, how likely each claim is supported."""
    found: dict[int, np.ndarray[Any, Any]] = {}
    for number in sorted(set(fold.tolist())):
        kept = [n for n in used if fold[n] != number]
        claim = _fit_claim(
            [examples[n] for n in kept], [tables[n] for n in kept], [labels[n] for n in kept]
        )
        for n in used:
            if fold[n] == number:
                found[n] = claim.predict(tables[n][:, _COLUMNS])
    return found
