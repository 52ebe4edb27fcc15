"""Which configuration to choose, in a sentence or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.report.amounts import format_amount, format_signed, format_signed_interval
from ragstone.report.comparison.opening import describe_item
from ragstone.report.comparison.sentences import join_names, shorten_name
from ragstone.report.remarks import Remark
from ragstone.report.translator import Translator

if TYPE_CHECKING:
    from ragstone.analysis.recommend import CostRatio, Recommendation


def describe_recommendation(advice: Recommendation | None, t: Translator) -> list[Remark]:
    """Which configuration to choose and what it takes, or how many questions would tell."""
    if advice is None:
        return [Remark(t("choose.no_primary"))]
    values = {
        "choice": shorten_name(advice.choice, t),
        "against": shorten_name(advice.against, t),
        "metric": advice.metric,
        "difference": format_signed(advice.difference, t),
        "interval": format_signed_interval(advice.low, advice.high, t),
        "margin": format_amount(advice.margin, t),
        "n": t.whole(advice.questions),
    }
    rivals = [shorten_name(name, t) for name in advice.rivals]
    if advice.advice == "undecided":
        return [Remark(_describe_undecided(advice, values, t), "warn")]
    if advice.advice == "equal":
        names = join_names([values["choice"], *rivals], t)
        return [Remark(t("choose.equal", names=names, **values))]
    if advice.advice == "leader":
        names = join_names(rivals, t)
        return [Remark(t("choose.leader", names=names, count=len(rivals), **values), "good")]
    price = ""
    if advice.costs:
        price = t("choose.price", items=join_names([_format_cost(c, t) for c in advice.costs], t))  # fmt: skip
    lines = [Remark(t(f"choose.{advice.advice}", price=price, **values), "good")]
    if advice.losses:
        items = join_names([describe_item(loss, t) for loss in advice.losses], t)
        lines.append(Remark(t("choose.losses", items=items), "bad"))
    if rivals:
        lines.append(Remark(t("choose.rivals", names=join_names(rivals, t))))
    return lines


def _describe_undecided(advice: Recommendation, values: dict[str, str], t: Translator) -> str:
    others = [shorten_name(name, t) for name in advice.rivals if name != advice.against]
    text = t("choose.undecided" if advice.difference else "choose.even", **values)
    if others:
        text += " " + t("choose.nor", names=join_names(others, t))
    if advice.needed is not None:
        more = max(advice.needed - advice.questions, 0)
        text += " " + t("choose.needed", needed=t.whole(advice.needed), more=t.whole(more), **values)  # fmt: skip
    return text


def _format_cost(cost: CostRatio, t: Translator) -> str:
    ratio = format_amount(cost.ratio, t)
    if cost.low is None or cost.high is None:
        return t("choose.cost_alone", ratio=ratio, metric=cost.metric)
    ends = f"{format_amount(cost.low, t)} – {format_amount(cost.high, t)}"
    return t("choose.cost", ratio=ratio, metric=cost.metric, interval=ends)
