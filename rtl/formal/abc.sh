#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Debian's ABC of 2022 for sby, which asks `pdr` for the short log (-l) and wants the end of a trace on
# a line of its own, as later ones have them.
if [ "$1" = -c ]; then
  set -- -c "$(printf '%s' "$2" | sed 's/pdr -v -l/pdr -v/')"
  # What is the same in every reachable state is one thing to prove: all invariants together are found in
  # two thirds of the time. A trace is one of the whole engine, so what is not proven so is looked at again.
  merged=$(printf '%s' "$2" | sed 's/pdr -v/scorr; dc2; pdr -v/')
  if [ "$merged" != "$2" ] && log=$(berkeley-abc -c "$merged") &&
    printf '%s\n' "$log" | grep -q '^Property proved'; then
    printf '%s\n' "$log"
    exit
  fi
fi
berkeley-abc "$@"
code=$?
for trace in engine_*/trace.aiw; do
  [ ! -f "$trace" ] || sed -i 's/\([01]\)#/\1\n#/' "$trace"
done
exit $code
