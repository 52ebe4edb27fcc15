"""Every bar of the core, one after the other: `make bench`."""

from __future__ import annotations

import subprocess
import sys

BENCHES = [
    "imports",
    "ranking",
    "text",
    "streaming",
    "compare",
    "judges",
    "judging",
    "against_ragas",
]


def main() -> None:
    failed = []
    for name in sys.argv[1:] or BENCHES:
        print(f"── {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"bench.{name}"]).returncode:
            failed.append(name)
    if failed:
        raise SystemExit(f"did not finish: {', '.join(failed)}")


if __name__ == "__main__":
    main()
