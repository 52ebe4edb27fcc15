"""The worked examples of the issue, in both languages; printed with every finding."""

from __future__ import annotations

from drive import chunks, score

from ragstone.metrics.citations import citation_accuracy, citation_precision, citation_recall
from ragstone.metrics.grounding import faithfulness

EINSTEIN = {
    "en": (
        "Albert Einstein (born 14 March 1879) was a German-born theoretical physicist, widely held to be one of "
        "the greatest and most influential scientists of all time.",
        "Einstein was born in Germany on 20th March 1879.",
    ),
    "es": (
        "Albert Einstein (nacido el 14 de marzo de 1879) fue un físico teórico de origen alemán, nacido en Alemania, "
        "considerado uno de los científicos más influyentes de todos los tiempos.",
        "Einstein nació en Alemania el 20 de marzo de 1879.",
    ),
}
POLICY = {
    "en": [
        "Items may be returned within 30 days of purchase.",
        "Returned items must be unused and in their original packaging.",
        "Refunds are issued within 5 to 7 working days after we receive the item.",
    ],
    "es": [
        "Se aceptan devoluciones en un plazo de 30 días desde la fecha de compra.",
        "Los artículos devueltos deben estar sin usar y en su embalaje original.",
        "Los reembolsos se procesan en un plazo de 5 a 7 días hábiles tras recibir el artículo.",
    ],
}
FAITHFUL = {
    "en": "You can return an item within 30 days of buying it. It has to be unused and in its original "
    "packaging. The refund takes between 5 and 7 working days.",
    "es": "Puedes devolver un artículo en los 30 días siguientes a la compra. Debe estar sin uso y en su "
    "embalaje original. El reembolso tarda entre 5 y 7 días hábiles.",
}
INVENTED = {
    "en": "You can return an item within 60 days of purchase. The refund is instant in the nearest shop. "
    "You also receive a 10 % voucher for your next order.",
    "es": "Puedes devolver un artículo en los 60 días siguientes a la compra. El reembolso es inmediato en la "
    "tienda más cercana. Además recibes un vale del 10 % para tu próximo pedido.",
}
CITED = {
    "right": "You can return an item within 30 days of purchase [1]. It must be unused and in its original "
    "packaging [2]. The refund is issued within 5 to 7 working days [3].",
    "wrong": "You can return an item within 30 days of purchase [2]. It must be unused and in its original "
    "packaging [3]. The refund is issued within 5 to 7 working days [1].",
}


def worked() -> dict[str, float]:
    """Every worked example with its score."""
    found: dict[str, float] = {}
    for language in ("en", "es"):
        context, answer = EINSTEIN[language]
        found[f"Einstein, {language}"] = _shown(answer, [context], language)
        found[f"returns, faithful paraphrase, {language}"] = _shown(
            FAITHFUL[language], POLICY[language], language
        )
        found[f"returns, invented, {language}"] = _shown(
            INVENTED[language], POLICY[language], language
        )
    for name, text in CITED.items():
        for metric in (citation_precision, citation_recall, citation_accuracy):
            got = score(metric, answer=text, contexts=chunks(*POLICY["en"]))
            found[f"{metric.__name__}, {name} markers"] = -1.0 if got is None else got.value or 0.0
    return found


def _shown(answer: str, texts: list[str], language: str) -> float:
    got = score(faithfulness, answer=answer, contexts=chunks(*texts), language=language)
    if got is None or got.value is None:
        return -1.0
    for finding in got.findings:
        print(
            f"  {finding.verdict:12} {finding.text}  | {finding.reason} | {finding.chunk}: {finding.quote}"
        )
    return got.value


if __name__ == "__main__":
    for name, result in worked().items():
        print(f"{result:6.3f}  {name}")
