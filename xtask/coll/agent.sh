#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# agent.sh NODE COMMAND...: what Open MPI's launcher takes for `ssh`: runs the command here, under the name of
# the node (node.c, built as NODE_LIBRARY).
node=$1
shift
NODE=$node LD_PRELOAD=$NODE_LIBRARY exec sh -c "$*"
