// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every key of a chip file means, and what holds without it.

/// A key, what holds if it is not there, and what it means.
pub(super) type Meaning = (&'static str, Option<&'static str>, &'static str);

/// The keys of a table.
pub(super) struct Means {
    /// The table; empty for the top level.
    pub table: &'static str,
    /// Of chips with a network or an endpoint of these kinds; empty for all.
    pub of: &'static str,
    /// Its keys.
    pub keys: &'static [Meaning],
}

/// All tables in the order in which a file usually has them.
pub(super) const MEANS: &[Means] = &[
    Means {
        table: "",
        of: "",
        keys: &[
            (
                "base",
                Some("none"),
                "a built-in chip that holds for everything which this file does not say",
            ),
            (
                "name",
                None,
                "what the chip is called: small letters, digits, `-` and `_`",
            ),
            ("summary", None, "one line about it"),
            ("source", None, "where it is described"),
            (
                "reference_clock",
                None,
                "the clock in whose cycles times are told",
            ),
        ],
    },
    Means {
        table: "clocks.NAME",
        of: "",
        keys: &[
            ("period", None, "its period, or its frequency; 1 ps to 1 ms"),
            (
                "rounding",
                Some("refused"),
                "takes a period that is no whole number of picoseconds as the nearest one",
            ),
        ],
    },
    Means {
        table: "cores",
        of: "",
        keys: &[(
            "max",
            None,
            "cores, and so the most ranks; those that the network has room for",
        )],
    },
    Means {
        table: "network",
        of: "",
        keys: &[("kind", None, "what connects the cores")],
    },
    Means {
        table: "network",
        of: "crossbar",
        keys: &[
            ("clock", None, "the clock of the ports"),
            ("width", None, "what a port moves per cycle: a word"),
        ],
    },
    Means {
        table: "network",
        of: "mesh, torus",
        keys: &[
            ("clock", None, "the clock of the routers"),
            (
                "link_clock",
                Some("that of the routers"),
                "the clock of the links; a link takes a flit in each of its cycles, which are whole cycles of the routers",
            ),
            ("order", None, "the dimension in which messages go first"),
            (
                "placement",
                Some("square"),
                "which core every rank gets: `square` (the most square part at the south-west corner), `rows`, `columns`, `snake`, `random:SEED`, or the cores one by one, such as `0 2 4 6`",
            ),
            ("width", None, "routers from west to east"),
            ("height", None, "routers from south to north"),
            ("cores_per_router", None, "cores at each router"),
            ("flit", None, "payload of a flit, and the width of a link"),
            ("vcs", None, "virtual channels of each input port"),
            ("buffer", None, "flits that a virtual channel buffers"),
            ("routing", None, "to compute the route of a head flit"),
            (
                "vc_allocation",
                None,
                "to give a head flit a virtual channel; 0 together with the switch",
            ),
            ("switch", None, "to allocate and cross the switch"),
            ("link", None, "to cross a link"),
            ("turn", None, "more for a head flit that turns"),
            (
                "credit",
                None,
                "until a place in a buffer that became free can be used again",
            ),
            ("injection", None, "from a core to its router"),
            ("ejection", None, "from the last router to its core"),
            (
                "static_hop",
                Some("no such network"),
                "per hop of a second network, whose routes are configured in advance and can fork",
            ),
        ],
    },
    Means {
        table: "memory",
        of: "rcce",
        keys: &[
            ("clock", None, "the clock of the memory controllers"),
            (
                "controllers",
                None,
                "the routers at which they are, each as \"x,y\"",
            ),
            ("line", None, "a line of caches and buffers; a power of two"),
            (
                "l1",
                None,
                "capacity of the first-level data cache: its ways times lines times a power of two",
            ),
            ("l1_ways", None, "lines of a set in it"),
            (
                "l2",
                None,
                "capacity of the second-level cache, in the same way",
            ),
            ("l2_ways", None, "lines of a set in it"),
            (
                "page",
                None,
                "a page, a power of two and at least a line; where pages lie in memory is random",
            ),
            ("private", None, "memory that a core has for itself"),
            (
                "l2_read",
                None,
                "for a core to read a line from the second level",
            ),
            (
                "read",
                None,
                "for a core to read a line from memory, without the mesh",
            ),
            (
                "write_back",
                None,
                "for a core to write a line back to memory, without the mesh",
            ),
            (
                "l2_store",
                None,
                "for a core to store a word of a line that only the second level holds",
            ),
            (
                "store",
                None,
                "for a core to store a word of a line that no cache holds",
            ),
            (
                "port",
                None,
                "for which a controller is busy with a line, in its own cycles",
            ),
        ],
    },
    Means {
        table: "endpoint",
        of: "",
        keys: &[(
            "kind",
            None,
            "what cores have for messages: an engine on a bus, queues of a mesh, buffers that all can read, or buffers that the hardware manages",
        )],
    },
    Means {
        table: "endpoint",
        of: "mpe",
        keys: &[
            ("clock", None, "the clock of the engines"),
            (
                "command",
                None,
                "from the core's command to the head of the engine's queue",
            ),
            (
                "order",
                None,
                "to read the status register and order the ranks by it; only commands that do so",
            ),
            ("request", None, "for the request from sender to receiver"),
            (
                "ready",
                None,
                "for the ready from receiver to sender, per hop of a chain",
            ),
            (
                "complete",
                None,
                "for the complete message; ports are held until it has passed",
            ),
            (
                "notify",
                None,
                "from the complete message until the core's program goes on",
            ),
            (
                "queue_depth",
                None,
                "commands inside an engine: one that streams, one in its handshake, the others behind them",
            ),
            (
                "launch",
                Some("held"),
                "when an atomic broadcast starts that need not wait until every port is free: for all at once, or at once with readies ahead of the end of other streams",
            ),
            (
                "combine",
                None,
                "for a core to combine a received word with its own",
            ),
        ],
    },
    Means {
        table: "endpoint",
        of: "udn",
        keys: &[
            ("clock", None, "the clock of the cores"),
            (
                "protocol",
                None,
                "what a sender waits for: the receiver's ready, packet by packet, or the ready before and the receipt after",
            ),
            ("call", None, "to enter a collective, once per rank"),
            (
                "call_per_rank",
                None,
                "to enter a collective, for every rank that takes part",
            ),
            ("send", None, "software of a message sent"),
            (
                "recv",
                None,
                "software of a message received, after its last word",
            ),
            (
                "recv_per_rank",
                None,
                "more of it for every rank that takes part: the sender is looked for among all",
            ),
            (
                "payload",
                None,
                "more for a message with payload, at each end: it is copied from and to memory",
            ),
            (
                "inject",
                None,
                "for a core to write a word into the network",
            ),
            ("extract", None, "for a core to read a word from a queue"),
            (
                "combine",
                None,
                "for a core to combine a received word with its own",
            ),
            (
                "route",
                None,
                "to configure a core's part of a static route",
            ),
            (
                "header",
                None,
                "words in front of the payload of every packet",
            ),
            ("packet", None, "most words of payload in a packet"),
            (
                "queues",
                None,
                "hardware queues of a core: the first for data, the second for flow control",
            ),
            (
                "queue",
                None,
                "words that each of them holds; more than a header",
            ),
        ],
    },
    Means {
        table: "endpoint",
        of: "rcce",
        keys: &[
            ("clock", None, "the clock of the cores"),
            (
                "library",
                None,
                "the message layer: blocking calls, calls that do not block, or one-sided transfers",
            ),
            (
                "bypass",
                None,
                "whether a core reaches its own buffer without the router",
            ),
            (
                "mpb",
                None,
                "a core's message passing buffer, with its flags",
            ),
            (
                "mpb_read",
                None,
                "to read a line of another core's buffer, without the hops",
            ),
            (
                "mpb_write",
                None,
                "to write a line of another core's buffer, without the hops",
            ),
            (
                "own_read",
                None,
                "to read a line of the core's own buffer through the router",
            ),
            (
                "own_write",
                None,
                "to write a line of the core's own buffer through the router",
            ),
            (
                "bypass_read",
                None,
                "to read a line of the core's own buffer by the bypass",
            ),
            (
                "bypass_write",
                None,
                "to write a line of the core's own buffer by the bypass",
            ),
            (
                "mpb_port",
                None,
                "for which a buffer is busy with a line, in cycles of the routers",
            ),
            (
                "combine",
                None,
                "for a core to combine a received word with its own",
            ),
            (
                "rcce",
                None,
                "software of the blocking calls, per message and end",
            ),
            (
                "ircce",
                None,
                "software of the calls that do not block, per message and end",
            ),
            (
                "one_sided",
                None,
                "software of a one-sided transfer, per message and end",
            ),
        ],
    },
    Means {
        table: "endpoint",
        of: "pronto",
        keys: &[
            ("clock", None, "the clock of the tiles' message interfaces"),
            (
                "memory",
                None,
                "the router of the external memory buffer, as \"x,y\"",
            ),
            (
                "host",
                None,
                "the router of the host processor, as \"x,y\"; it runs no task",
            ),
            ("input", None, "a tile's buffer for messages that arrive"),
            ("output", None, "a tile's buffer for messages that leave"),
            ("status", None, "messages that its status table describes"),
            ("packet", None, "most words of payload in a packet"),
            ("header", None, "flits in front of a packet's payload"),
            ("envelope", None, "flits of the packet that asks for room"),
            (
                "acknowledgement",
                None,
                "flits of the packet that grants it, or says that memory is written",
            ),
            ("setup", None, "for a core to give the engine a command"),
            (
                "copy",
                None,
                "for the engine to move a word between local memory and a buffer",
            ),
            (
                "request",
                None,
                "flits of a request to the external memory buffer",
            ),
            (
                "access",
                None,
                "from the beginning of a request to its first word in that buffer",
            ),
            (
                "word",
                None,
                "for which that buffer's port is busy with a word",
            ),
            ("external", None, "capacity of that buffer"),
        ],
    },
    Means {
        table: "core",
        of: "pronto",
        keys: &[
            ("clock", None, "the clock of the cores"),
            ("multiply", None, "for a multiplication"),
            (
                "add",
                None,
                "for an addition, subtraction, shift, comparison or logic operation",
            ),
            ("load", None, "for a word from local memory"),
            ("store", None, "for a word to local memory"),
            ("branch", None, "for a branch"),
            (
                "parallel",
                None,
                "operations that a core executes at once on average",
            ),
        ],
    },
];
