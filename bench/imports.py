"""What `import ragstone` costs, against `import pydantic, numpy`, and how many packages the core brings.

python -m bench.imports"""

from __future__ import annotations

import importlib.metadata
import os
import re
import statistics
import subprocess
import sys


def cpu_seconds(code: str) -> float:
    """CPU seconds of a fresh interpreter that runs this."""
    process = subprocess.Popen([sys.executable, "-c", code])
    _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{code!r} failed")
    return used.ru_utime + used.ru_stime


def core_packages() -> set[str]:
    """The packages that a bare install of ragstone brings, itself included."""
    found: set[str] = set()
    waiting = ["ragstone"]
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        found.add(name)
        for line in importlib.metadata.requires(name) or []:
            from packaging.requirements import Requirement

            wanted = Requirement(line)
            if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
                waiting.append(wanted.name)
    return found


def main() -> None:
    bare, ours, both = [], [], []
    for _ in range(15):
        bare.append(cpu_seconds("pass"))
        ours.append(cpu_seconds("import ragstone"))
        both.append(cpu_seconds("import pydantic, numpy"))
    floor = statistics.median(bare)
    mine, theirs = statistics.median(ours) - floor, statistics.median(both) - floor
    print(f"import ragstone: {mine / theirs:.2f} x import pydantic, numpy (bar: at most 1.00)")
    every = statistics.median(
        cpu_seconds("import ragstone\nfor n in ragstone.__all__: getattr(ragstone, n)")
        for _ in range(9)
    )
    print(f"every public name of ragstone: {(every - floor) / theirs:.2f} x import pydantic, numpy")
    print(f"core install: {len(core_packages())} packages (bar: at most 32)")


if __name__ == "__main__":
    main()
