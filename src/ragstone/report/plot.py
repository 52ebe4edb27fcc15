"""Charts of runs, in a notebook or as a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.experiments.bench import Bench
    from ragstone.experiments.run import Run
    from ragstone.report.drawing.shapes import Drawing


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart, which a notebook shows."""

    drawing: Drawing = field(repr=False)

    def write(self, path: str | Path) -> Path:
        """Write the chart as .svg, or as .png with the extra `plot`."""
        from ragstone.report.files import write_picture

        if Path(path).suffix.lower() not in (".svg", ".png"):
            raise RagstoneError(f"{str(path)!r} names no picture; end it in .svg or .png")
        write_picture(self.drawing, Path(path))
        return Path(path)

    def _repr_svg_(self) -> str:
        from ragstone.report.drawing.svg import to_svg_file

        return to_svg_file(self.drawing)


def plot(result: Run | Bench, *, target: float | None = None, language: str = "en") -> Plot:
    """Draw the means of a run, or of each configuration of a bench, with their intervals and a labelled target."""
    from ragstone.report.drawing.charts import draw_metric_bars
    from ragstone.report.drawing.shapes import WIDE, stack_drawings
    from ragstone.report.translator import load_translator

    shown: Any = result  # whatever it is: it is looked at
    if not (hasattr(shown, "runs") or hasattr(shown, "summary")):
        raise RagstoneError(
            f"a {type(result).__name__} has no chart; give a run or the result of a bench"
        )
    if target is not None and (isinstance(target, bool) or not isinstance(target, int | float)):
        raise RagstoneError(f"the target is {target!r}; give a number, such as 0.8")
    runs = result.runs if hasattr(result, "runs") else {"": result}
    t = load_translator(language)
    drawings = [
        draw_metric_bars(run.summary(), t, WIDE, target=target, name=name)
        for name, run in runs.items()
    ]
    return Plot(stack_drawings(drawings))
