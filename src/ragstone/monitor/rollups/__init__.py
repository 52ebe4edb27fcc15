"""Roll-ups: counts, sums and histograms of interactions by five minutes, hour and day, so that a window is read in milliseconds."""
