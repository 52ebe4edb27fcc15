"""What is written on and under pictures, in English and Spanish."""

from __future__ import annotations

DRAWING: dict[str, tuple[str, str]] = {
    "drawn.metrics": ("Means with 95% intervals", "Medias con intervalos del 95\u00a0%"),
    "drawn.histograms": ("How the scores are spread", "Cómo se reparten las puntuaciones"),
    "drawn.pareto": ("{quality} against {cost}", "{quality} frente a {cost}"),
    "drawn.front": ("best for its {cost}", "la mejor para su {cost}"),
    "drawn.effects": (
        "Mean of {metric} at each setting with its 95% interval",
        "Media de {metric} con cada ajuste y su intervalo del 95\u00a0%",
    ),
    "drawn.failures": (
        "Share of samples in each class with its 95% interval",
        "Proporción de muestras en cada clase con su intervalo del 95\u00a0%",
    ),
}
