"""What is written on and under pictures, in English and Spanish."""

from __future__ import annotations

DRAWING: dict[str, tuple[str, str]] = {
    "drawn.metrics": ("Means with 95% intervals", "Medias con intervalos del 95\u00a0%"),
    "drawn.histograms": ("How the scores are spread", "Cómo se reparten las puntuaciones"),
    "drawn.pareto": ("{quality} against {cost}", "{quality} frente a {cost}"),
    "drawn.front": (
        "Joined: no other is both better and lower in {cost}.",
        "Unidas: ninguna otra es mejor y a la vez más baja en {cost}.",
    ),
    "drawn.effects": (
        "Mean of {metric} at each setting with its 95% interval",
        "Media de {metric} con cada ajuste y su intervalo del 95\u00a0%",
    ),
    "effects": ("What each setting does", "Qué hace cada ajuste"),
    "setting": ("Setting", "Ajuste"),
    "in_force": ("in force", "en vigor"),
    "effects_full": (
        "Every combination was run ({n} runs); a level's mean is over all the others.",
        "Se ejecutaron todas las combinaciones ({n} ejecuciones); la media de un valor abarca todos los demás.",
    ),
    "effects_single": (
        "One setting varied at a time ({n} runs); p corrected by Holm over all of them.",
        "Se varió un ajuste cada vez ({n} ejecuciones); p corregida por Holm sobre todos.",
    ),
    "paired_on_all.one": ("{n} sample scored in every run.", "{n} muestra puntuada en todas."),
    "paired_on_all.many": ("{n} samples scored in every run.", "{n} muestras puntuadas en todas."),
    "drawn.failures": (
        "Share of samples in each class with its 95% interval",
        "Proporción de muestras en cada clase con su intervalo del 95\u00a0%",
    ),
}
