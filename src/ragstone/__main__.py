"""`python -m ragstone`: the command line."""

from ragstone.cli import main

if __name__ == "__main__":
    main()
