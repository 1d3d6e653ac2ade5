#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Installs the Debian packages that `make` needs besides pip's; run as root.
set -e
PACKAGES="
  make perl g++ libc6-dev
  python3 python3-venv
  iverilog berkeley-abc
"
# For `make area`, `make timing` and `make gate`, which CI leaves out: OSU 0.18 um cells, OpenSTA.
NIGHTLY="qflow-tech-osu018 opensta"
[ "$1" != "--nightly" ] || PACKAGES="$PACKAGES $NIGHTLY"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086
apt-get install -qq -y --no-install-recommends $PACKAGES
