"""The bounds of a cascade that were measured on labels: `unsure: measured` becomes the numbers before a run begins.

The plan that is stored, resumed and sent to workers has the numbers, so that a later measurement changes no run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragstone.config import reveal
from ragstone.judges.cascade_settings import MEASURED
from ragstone.judges.factory import UnknownJudge, make_judge
from ragstone.judges.scale import fingerprint_judge
from ragstone.store import Store, load_scales


def resolve_bounds(spec: Any, store: str | Store | None, language: str | None = None) -> Any:
    """Return a cascade with bounds in numbers: those that were measured for its first judge, unless it gives others.

    Without any, and without `unsure: measured`, it is left to its defaults. Any other judge is returned as it is."""
    if not isinstance(spec, Mapping) or "first" not in spec or "agree" in spec:
        return spec
    if spec.get("unsure", MEASURED) != MEASURED:
        return spec
    judge = make_judge(reveal(spec["first"]), missing_keys=[])
    opened = store if isinstance(store, Store) else Store.open(store)
    scales = load_scales(opened, fingerprint_judge(judge))
    tag = (language or "").split("-")[0].lower()
    bounds = [
        scale.unsure
        for scale in scales.values()
        if scale.unsure is not None and tag in ("", scale.language)
    ]
    if bounds:
        # of several languages and metrics the widest
        low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
        return {**spec, "unsure": f"{low:g}..{high:g}"}
    if "unsure" not in spec:
        return spec
    raise UnknownJudge(
        f"no bounds were measured for the judge {judge.name!r}; measure it on labels with "
        "ragstone judge measure --labels … --save-scale, or give unsure: 0.2..0.8"
    )
