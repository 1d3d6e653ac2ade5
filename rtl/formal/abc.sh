#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Debian's ABC of 2022 for sby, which asks `pdr` for the short log (-l) and wants the end of a trace on
# a line of its own, as later ones have them.
[ "$1" != -c ] || set -- -c "$(printf '%s' "$2" | sed 's/pdr -v -l/pdr -v/')"
berkeley-abc "$@"
code=$?
for trace in engine_*/trace.aiw; do
  [ ! -f "$trace" ] || sed -i 's/\([01]\)#/\1\n#/' "$trace"
done
exit $code
