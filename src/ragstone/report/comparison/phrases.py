"""What a comparison says, in English and Spanish."""

from __future__ import annotations

COMPARING: dict[str, tuple[str, str]] = {
    "comparison": ("Comparison", "Comparación"),
    "against": ("{run} against {baseline}", "{run} frente a {baseline}"),
    "baseline": ("Baseline", "Referencia base"),
    "runs": ("Runs", "Ejecuciones"),
    "run": ("Run", "Ejecución"),
    "before": ("Before", "Antes"),
    "after": ("After", "Después"),
    "difference": ("Difference", "Diferencia"),
    "p_corrected.holm": ("p (Holm)", "p (Holm)"),
    "p_corrected.bh": ("p (B–H)", "p (B–H)"),
    "p_corrected.none": ("p (uncorrected)", "p (sin corregir)"),
    "verdict": ("Verdict", "Veredicto"),
    "moved": ("Better / same / worse", "Mejor / igual / peor"),
    "verdict_word.better": ("better", "mejor"),
    "verdict_word.worse": ("worse", "peor"),
    "verdict_word.equivalent": ("equivalent", "equivalente"),
    "verdict_word.unclear": ("cannot tell", "no se puede decir"),
    "verdict_word.withheld": ("withheld", "sin veredicto"),
    "says.better": ("better by {size}", "mejor en {size}"),
    "says.worse": ("worse by {size}", "peor en {size}"),
    "says.better_slight": (
        "better by {size}, less than the {margin} that matters",
        "mejor en {size}, menos de lo que importa ({margin})",
    ),
    "says.worse_slight": (
        "worse by {size}, less than the {margin} that matters",
        "peor en {size}, menos de lo que importa ({margin})",
    ),
    "says.equivalent": ("equivalent within ±{margin}", "equivalente dentro de ±{margin}"),
    "says.unclear": (
        "cannot tell: you could have seen {seen}; for {effect} you need about {needed} questions",
        "no se puede decir: se habría visto {seen}; para {effect} hacen falta unas {needed} preguntas",
    ),
    "says.unclear_short": ("cannot tell", "no se puede decir"),
    "says.withheld": (
        "withheld: {pairs} of {applicable} samples scored in both runs ({share}), under the floor of {floor}",
        "sin veredicto: {pairs} de {applicable} muestras puntuadas en ambas ejecuciones ({share}), por debajo del mínimo del {floor}",
    ),
    "says.nothing": (
        "withheld: too few samples scored in both runs",
        "sin veredicto: hay muy pocas muestras puntuadas en ambas ejecuciones",
    ),
    "relative": ("{size} ({change})", "{size} ({change})"),
    "gist.better": ("better in {metrics}", "mejor en {metrics}"),
    "gist.worse": ("worse in {metrics}", "peor en {metrics}"),
    "gist.equivalent": ("equivalent in {metrics}", "equivalente en {metrics}"),
    "gist.unclear": ("cannot tell about {metrics}", "no se puede decir en {metrics}"),
    "gist.withheld": ("no verdict on {metrics}", "sin veredicto sobre {metrics}"),
    "paired_on.one": ("{n} question in both runs", "{n} pregunta en ambas ejecuciones"),
    "paired_on.many": ("{n} questions in both runs", "{n} preguntas en ambas ejecuciones"),
    "unmatched": (
        "{before} questions are only in {baseline} and {after} only in {run}: they do not count",
        "{before} preguntas están solo en {baseline} y {after} solo en {run}: no cuentan",
    ),
    "other_questions": (
        "The runs ask different questions under the same id ({ids}); are they of the same test set?",
        "Las ejecuciones hacen preguntas distintas con el mismo identificador ({ids}); ¿son del mismo conjunto?",
    ),
    "only_metrics": (
        "Only one run has {metrics}; not compared.",
        "Solo una ejecución tiene {metrics}; no se compara.",
    ),
    "left_out_samples": ("Left out: {parts}.", "Quedan fuera: {parts}."),
    "left_side.before": ("{end} in {baseline} (×{n})", "{end} en {baseline} (×{n})"),
    "left_side.after": ("{end} in {run} (×{n})", "{end} en {run} (×{n})"),
    "left_side.both": ("{end} in both (×{n})", "{end} en ambas (×{n})"),
    "how_compared": (
        "Difference: after minus before on the samples scored in both runs, with its 95% interval ({kind}). p is exact (McNemar) for yes-or-no metrics, else by sign flips; {correction}. Better or worse: p at most 0.05 after that.",
        "Diferencia: después menos antes en las muestras puntuadas en ambas ejecuciones, con su intervalo del 95\u00a0% ({kind}). p es exacta (McNemar) para métricas de sí o no; si no, por cambios de signo; {correction}. Mejor o peor: p de 0,05 como máximo tras la corrección.",
    ),
    "kind_plain": ("samples independent", "muestras independientes"),
    "kind_grouped": ("groups independent, not samples", "grupos independientes, no muestras"),
    "corrected.single": (
        "with one difference there is nothing to correct for",
        "con una sola diferencia no hay nada que corregir",
    ),
    "corrected.holm": (
        "corrected by Holm over the {n} differences shown",
        "corregida por Holm sobre las {n} diferencias mostradas",
    ),
    "corrected.bh": (
        "corrected by Benjamini–Hochberg over the {n} differences shown",
        "corregida por Benjamini–Hochberg sobre las {n} diferencias mostradas",
    ),
    "corrected.none": (
        "not corrected, although {n} differences are shown",
        "sin corregir, aunque se muestran {n} diferencias",
    ),
    "judging": ("What judging took", "Lo que costó juzgar"),
    "regressed": ("Samples that became worse", "Muestras que empeoraron"),
    "fixed": ("Samples that became better", "Muestras que mejoraron"),
    "shown_most": (
        "the {shown} that moved most of {total}",
        "las {shown} que más cambiaron de {total}",
    ),
    "none_moved": ("None.", "Ninguna."),
    "regressions.none": ("No regression", "Ninguna regresión"),
    "regressions.one": ("{n} regression", "{n} regresión"),
    "regressions.many": ("{n} regressions", "{n} regresiones"),
    "arrow": ("{before} → {after}", "{before} → {after}"),
    "forest_of": (
        "Differences to {baseline} with their 95% intervals, as shares of each metric's range; to the right is better",
        "Diferencias con {baseline} y sus intervalos del 95\u00a0%, en partes del rango de cada métrica; a la derecha, mejor",
    ),
    "annotation.regression": (
        "{metric} is worse than in {baseline}: {before} → {after}, {says}",
        "{metric} es peor que en {baseline}: {before} → {after}, {says}",
    ),
    "annotation.withheld": ("{metric}: {says}", "{metric}: {says}"),
    # plan
    "plan.answer": (
        "About {questions} questions show a difference of {effect} in {power} of all studies.",
        "Unas {questions} preguntas muestran una diferencia de {effect} en el {power} de los estudios.",
    ),
    "plan.sd": (
        "Standard deviation of the difference between two systems on one question: {sd} ({how}).",
        "Desviación estándar de la diferencia entre dos sistemas en una misma pregunta: {sd} ({how}).",
    ),
    "plan.how.worst": (
        "the worst case of a metric from 0 to 1, systems correlated at 0.5; name a run with --run for a better guess",
        "el peor caso de una métrica de 0 a 1 y correlación de 0,5 entre sistemas; con --run la estimación mejora",
    ),
    "plan.how.run": (
        "from {metric} in {run}, assuming that systems correlate at 0.5; give --run twice to measure it",
        "de {metric} en {run}, suponiendo una correlación de 0,5 entre sistemas; con dos --run se mide",
    ),
    "plan.how.runs": (
        "measured between {run} and {other} in {metric}",
        "medida entre {run} y {other} en {metric}",
    ),
    "plan.design": (
        "Groups make {design} times as many questions necessary as independent ones would.",
        "Los grupos hacen necesarias {design} veces más preguntas que si fueran independientes.",
    ),
    "plan.comparisons": (
        "Corrected for {n} comparisons in one study.",
        "Corregido para {n} comparaciones en un mismo estudio.",
    ),
}
