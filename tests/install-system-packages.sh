#!/bin/sh
# A headless Chromium for the tests that open reports in a browser, a PostgreSQL server for those of the store, and a spell
# checker for the docs.
# Without the rights to install them the tests that need them are skipped and say so.
wanted=""
command -v chromium-headless-shell >/dev/null 2>&1 || command -v chromium >/dev/null 2>&1 || wanted="chromium-headless-shell"
ls /usr/lib/postgresql/*/bin/pg_ctl >/dev/null 2>&1 || command -v pg_ctl >/dev/null 2>&1 || wanted="$wanted postgresql"
command -v hunspell >/dev/null 2>&1 || wanted="$wanted hunspell hunspell-en-gb hunspell-es"
[ -z "$wanted" ] && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends $wanted >/dev/null && exit 0
fi
echo "not installed, and no way to:$wanted; the tests that need them will be skipped" >&2
exit 0
