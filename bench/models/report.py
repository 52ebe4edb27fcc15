"""Tables of what was measured: agreement with people, cost, and paired intervals of the differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

DRAWS = 2_000
UNSCORED = 0.5
"""What a row without a score counts as."""

SLOW_ROUTES = ("ragas", "json")
"""Routes that write long replies, and so are measured on fewer rows."""

Entries = Mapping[str, Mapping[str, Any]]
"""Key of a row → its prediction."""


def print_report(entries: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> None:
    """Print the tables of the quick routes on all rows that they share, then with each slow route on the rows it has too."""
    wanted = {row.key for row in rows}
    by_route: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if entry["row"] in wanted:
            by_route.setdefault(entry["route"], {})[entry["row"]] = entry
    for route in list(by_route):
        if len(by_route[route]) < len(wanted):
            print(f"{route}: {len(by_route[route])} of {len(wanted)} rows measured so far")
    quick = [route for route in by_route if route not in SLOW_ROUTES]
    slow = [route for route in by_route if route in SLOW_ROUTES]
    for routes in [quick, *([*quick, route] for route in slow)]:
        common = set.intersection(*(set(by_route[route]) for route in routes)) if routes else set()
        if not common:
            continue
        print(f"\nOn the {len(common)} rows that {', '.join(routes)} have:")
        tables = {route: {key: by_route[route][key] for key in common} for route in routes}
        _print_cost(tables)
        if not _has_both_labels(tables[routes[0]]):
            print("too few rows to compare: some set has rows of one label only")
            continue
        _print_agreement(tables)
        if "plain" in tables:
            _print_differences(tables)


def _has_both_labels(table: Entries) -> bool:
    """Whether each set has rows of either label."""
    return all(len(set(_arrays(table, name)[0].tolist())) == 2 for name in _list_sets(table))


def auroc(labels: Any, scores: Any) -> float:
    """Chance that a supported row scores above another, ties half."""
    positive, negative = scores[labels == 1], scores[labels == 0]
    if not len(positive) or not len(negative):
        return float("nan")
    above = (positive[:, None] > negative).mean() + (positive[:, None] == negative).mean() / 2
    return float(above)


def _arrays(table: Entries, name: str) -> tuple[Any, Any]:
    """Labels and scores of one set, in the order of the keys."""
    entries = [table[key] for key in sorted(table) if table[key]["set"] == name]
    scores = [UNSCORED if e["score"] is None else e["score"] for e in entries]
    return np.array([e["label"] for e in entries]), np.array(scores, float)


def _list_sets(table: Entries) -> list[str]:
    return sorted({entry["set"] for entry in table.values()})


def _mean_auroc(table: Entries) -> float:
    return float(np.nanmean([auroc(*_arrays(table, name)) for name in _list_sets(table)]))


def _print_agreement(tables: Mapping[str, Entries]) -> None:
    sets = _list_sets(next(iter(tables.values())))
    print(
        "\nAUROC"
        + " " * 9
        + "".join(f"{name[:12]:>14}" for name in (*sets, "mean", "balanced acc."))
    )
    for route, table in tables.items():
        figures = [auroc(*_arrays(table, name)) for name in sets] + [_mean_auroc(table)]
        figures.append(_balanced_accuracy(table))
        print(f"{route:<14}" + "".join(f"{figure:>14.3f}" for figure in figures))


def _balanced_accuracy(table: Entries) -> float:
    """Mean of the two recalls over the sets; a row without a verdict is half right."""
    found = []
    for name in _list_sets(table):
        for label in (0, 1):
            entries = [e for e in table.values() if e["set"] == name and e["label"] == label]
            right = [0.5 if e["verdict"] is None else e["verdict"] == label for e in entries]
            found.append(np.mean(right))
    return float(np.mean(found))


def _print_cost(tables: Mapping[str, Entries]) -> None:
    heads = ("scored", "calls", "sent", "evaluated", "written", "seconds")
    print("\na sample" + " " * 6 + "".join(f"{head:>12}" for head in heads))
    for route, table in tables.items():
        entries = list(table.values())
        scored = sum(entry["score"] is not None for entry in entries) / len(entries)
        means = [np.mean([entry.get(head, 0) for entry in entries]) for head in heads[1:]]
        print(f"{route:<14}{scored:>12.1%}" + "".join(f"{mean:>12,.1f}" for mean in means))
    reasons: dict[str, int] = {}
    for route, table in tables.items():
        for entry in table.values():
            if entry["score"] is None:
                reason = f"{route}: {entry['outcome'][:100]}"
                reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in sorted(reasons.items(), key=lambda item: -item[1])[:12]:
        print(f"  {count} × {reason}")


def _print_differences(tables: Mapping[str, Entries]) -> None:
    """Mean AUROC of the plain route minus each other's, with paired bootstrap intervals over the rows of each set."""
    random = np.random.default_rng(7)
    plain = tables["plain"]
    sets = _list_sets(plain)
    draws = []
    for name in sets:
        labels, _ = _arrays(plain, name)
        draws.append([_draw(labels, random) for _ in range(DRAWS)])
    print("\nplain minus    difference    95 % interval")
    for route, table in tables.items():
        if route == "plain":
            continue
        differences = np.zeros(DRAWS)
        for name, picked in zip(sets, draws, strict=True):
            labels, ours = _arrays(plain, name)
            _, theirs = _arrays(table, name)
            differences += [auroc(labels[p], ours[p]) - auroc(labels[p], theirs[p]) for p in picked]
        low, high = np.quantile(differences / len(sets), [0.025, 0.975])
        point = _mean_auroc(plain) - _mean_auroc(table)
        print(f"{route:<14}{point:>12.3f}    {low:+.3f} … {high:+.3f}")


def _draw(labels: Any, random: np.random.Generator) -> Any:
    """Rows drawn with replacement, as many of each label as there are."""
    parts = [np.flatnonzero(labels == label) for label in (0, 1)]
    return np.concatenate([random.choice(part, len(part)) for part in parts])
