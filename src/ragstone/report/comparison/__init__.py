"""What a comparison of runs says: sentences on each difference, samples in both runs, commands for GitHub."""
