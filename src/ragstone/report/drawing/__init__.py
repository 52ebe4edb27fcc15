"""Pictures as plain shapes, laid out once and written as inline SVG, SVG files or PNG."""
