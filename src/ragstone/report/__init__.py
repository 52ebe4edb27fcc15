"""Reports: an analysis is built into a document tree once (builders/), which each format renders (render/, formats.py)."""
