"""Reports: an analysis is built into a document tree once (build/), which each format renders (render/, formats.py)."""
