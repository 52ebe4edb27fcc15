#!/bin/sh
# A headless Chromium for the tests that open reports in a browser. Without the rights to install it the
# tests that need it are skipped and say so.
command -v chromium-headless-shell >/dev/null 2>&1 && exit 0
command -v chromium >/dev/null 2>&1 && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium-headless-shell >/dev/null && exit 0
fi
echo "no headless Chromium and no way to install it: the browser tests will be skipped" >&2
exit 0
