# SPDX-License-Identifier: MIT OR Apache-2.0
"""Parameters of the hardware under test."""

import json
import os

# Those of mpe_tb.sv.
DEFAULTS = {"NumNodes": 4, "StatusW": 2, "AddrW": 10, "LenW": 10, "DataW": 32, "QueueDepth": 2,
            "Snoop": 0, "HoldLaunch": 0}
# run.py says what differs from them; another runner need not.
PARAMETERS = {**DEFAULTS, **json.loads(os.environ.get("MPE_PARAMETERS", "{}"))}
IS_SNOOPING = PARAMETERS["Snoop"] == 1      # order from the bus's emitter
IS_HOLDING = PARAMETERS["HoldLaunch"] == 1  # launches wait for busy members
