#!/bin/sh
# A real Slurm for the tests of `make test-all`; without the rights to install it they are skipped and say so.
command -v slurmctld >/dev/null 2>&1 && command -v munged >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null && exit 0
fi
echo "not installed, and no way to: slurm-wlm munge; the tests that need them will be skipped" >&2
exit 0
