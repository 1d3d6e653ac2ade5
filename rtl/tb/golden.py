# SPDX-License-Identifier: MIT OR Apache-2.0
"""What the engine should do: order, status class, memory contents.

Independent of the hardware's way of doing it: the order is a sort, a program is executed one
message after the other.
"""

from dataclasses import dataclass, field

BCAST, SEND, RECV, FWD = 0, 1, 2, 3
REFERENCE_BYTES = 1024


def status_class(length_words, bits, data_bytes=4):
    """As `corecast_core::status::class`, for a node that moves words."""
    width = (REFERENCE_BYTES >> (bits - 1)) // data_bytes
    return min((1 << bits) - 1, length_words // width + 1)


def order(statuses, members, root):
    """Root first, then by class, by number inside a class (Park 2019, 3.3 step 3)."""
    leaves = [node for node in range(len(statuses)) if members >> node & 1 and node != root]
    return [root] + sorted(leaves, key=lambda node: (statuses[node], node))


@dataclass
class Command:
    """What a core puts on its engine's command port."""
    op: int
    peer: int
    addr: int
    length: int
    members: int = 0    # mask of a broadcast, target of a Send or Fwd
    gap: int = 0        # clocks that the core waits before it shows the command
    message: int = -1   # which message of the program it belongs to
    show: int = 0       # first clock in which it may be shown


@dataclass
class Program:
    """Messages in an order in which they could run one by one: so no program can deadlock."""
    nodes: int
    commands: list = field(default_factory=list)   # per node
    messages: list = field(default_factory=list)

    def __post_init__(self):
        self.commands = [[] for _ in range(self.nodes)]

    def send(self, source, target, from_addr, to_addr, length, gaps=(0, 0)):
        self.chain((source, target), (from_addr, to_addr), length, gaps)

    def chain(self, path, addrs, length, gaps=None):
        """From the first node of a path to its last; those between receive and pass on."""
        index, last = len(self.messages), len(path) - 1
        self.messages.append(("chain", tuple(path), tuple(addrs), length))
        for place, node in enumerate(path):
            op = SEND if place == 0 else RECV if place == last else FWD
            target = path[place + 1] if place < last else 0
            source = path[place - 1] if place > 0 else target
            self.commands[node].append(Command(op, source, addrs[place], length, target,
                                               gaps[place] if gaps else 0, index))

    def bcast(self, root, members, addrs, length, gaps=None):
        index = len(self.messages)
        self.messages.append(("bcast", root, members, dict(addrs), length))
        for node in range(self.nodes):
            if members >> node & 1:
                self.commands[node].append(
                    Command(BCAST, root, addrs[node], length, members,
                            gaps[node] if gaps else 0, index))

    def memory_after(self, memory):
        """Memories after the program; the argument is not changed."""
        memory = [list(words) for words in memory]
        for message in self.messages:
            if message[0] == "chain":
                _, path, addrs, length = message
                data = memory[path[0]][addrs[0]:addrs[0] + length]
                for node, addr in zip(path, addrs):
                    memory[node][addr:addr + length] = data
            else:
                _, root, members, addrs, length = message
                data = memory[root][addrs[root]:addrs[root] + length]
                for node in range(self.nodes):
                    if members >> node & 1:
                        memory[node][addrs[node]:addrs[node] + length] = data
        return memory


def random_program(rng, nodes, messages, words, length_max, gap_max=0):
    """A random program over memories of `words` words."""
    program = Program(nodes)
    for _ in range(messages):
        length = rng.choice([0, 1, 1, 2, 3, rng.randint(1, length_max), rng.randint(1, length_max)])
        addr = lambda: rng.randint(0, words - length)
        gap = lambda: rng.choice([0, 0, rng.randint(0, gap_max)])
        if rng.random() < 0.65:
            size = min(nodes, rng.choice([2, 2, 2, 3, rng.randint(2, nodes)]))
            path = rng.sample(range(nodes), size)
            program.chain(path, [addr() for _ in path], length, [gap() for _ in path])
        else:
            members = 0
            while bin(members).count("1") < 2:
                members = rng.choice([(1 << nodes) - 1, rng.randrange(1 << nodes)])
            root = rng.choice([node for node in range(nodes) if members >> node & 1])
            program.bcast(root, members, {n: addr() for n in range(nodes)}, length,
                          [gap() for _ in range(nodes)])
    return program
