"""Renderers: each writes any document, or what else of a report its format takes."""
