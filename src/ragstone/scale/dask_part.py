"""`dask scheduler` and `dask worker` as the Slurm launcher starts them: python -m ragstone.scale.dask_part scheduler …"""

from __future__ import annotations

import sys
from importlib import import_module

from ragstone.scale.cluster import lift_message_limit

# also in the process that a worker's nanny spawns, which runs this file under the second name
if __name__ in ("__main__", "__mp_main__"):
    lift_message_limit()

if __name__ == "__main__":
    part = sys.argv.pop(1)
    import_module(f"distributed.cli.dask_{part}").main()
