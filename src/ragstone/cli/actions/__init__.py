"""What the commands do: `cli/NAME.py` declares a command with click, `cli/actions/NAME.py` acts when it is called."""
