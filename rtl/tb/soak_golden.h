// SPDX-License-Identifier: MIT OR Apache-2.0
// What programs of commands must do: the golden model of soak.cpp. It knows messages, not engines.
//
// A program is legal if its messages can be put in one order that every node's commands follow: then
// it can be run one message after the other, which is how this model runs it. Of a legal program it
// is guaranteed, whatever the cores' gaps and the memories' stalls:
//   every command ends, and they end in the order in which a node gave them;
//   if all who take part in a message give it the same length, every node writes exactly the words of
//   its messages, in order, and nobody reports an error;
//   if they do not, a node takes what comes up to its own length; it reports err_short if that is
//   less, and err_long if more comes. Nothing may follow at these nodes until all are free.
#ifndef SOAK_GOLDEN_H
#define SOAK_GOLDEN_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

enum Op { kBcast, kSend, kRecv, kFwd };
constexpr int kWords = 256;  // of each memory

struct Command {
  Op op;
  int peer;           // partner, root, or source of a forward
  int addr, len;      // in words
  uint32_t members;   // mask of a broadcast, target of a send or forward
  int gap;            // clocks that the core waits before it shows the command
};
using Program = std::vector<std::vector<Command>>;  // per node
using Memories = std::vector<std::vector<uint32_t>>;

struct Write {
  int addr;
  uint32_t data;
};

struct Expected {
  bool is_legal = false;
  bool has_wrong_bcast = false;                // whose chain, and so who gets how much, is the bus's
  std::vector<std::vector<Write>> writes;      // per node, in order; all that a wrong broadcast may
  std::vector<std::vector<size_t>> through;    // writes when a command has ended
  std::vector<std::vector<bool>> is_short, is_long;
};

// Who takes part in the message that the command at the head of `first` starts, in the order of their
// chain (of a broadcast: the root, then the others); empty if one of them is not there yet.
inline std::vector<int> group_of(const Program &program, const std::vector<size_t> &at, int first) {
  auto head = [&](int node) -> const Command * {
    return at[node] < program[node].size() ? &program[node][at[node]] : nullptr;
  };
  const Command *start = head(first);
  if (!start || (start->op == kBcast ? start->peer != first : start->op != kSend)) return {};
  std::vector<int> group{first};
  if (start->op == kBcast) {
    for (int node = 0; node < int(program.size()); node++) {
      if (node == first || !(start->members >> node & 1)) continue;
      const Command *other = head(node);
      if (!other || other->op != kBcast || other->peer != first || other->members != start->members)
        return {};
      group.push_back(node);
    }
    return group;
  }
  for (const Command *one = start; one->op != kRecv;) {
    int next = int(one->members);
    const Command *other = head(next);
    if (!other || (other->op != kRecv && other->op != kFwd) || other->peer != group.back()) return {};
    group.push_back(next);
    one = other;
  }
  return group;
}

inline Expected run_one_by_one(const Program &program, Memories memory) {
  size_t nodes = program.size();
  Expected expected;
  expected.writes.resize(nodes), expected.through.resize(nodes);
  expected.is_short.resize(nodes), expected.is_long.resize(nodes);
  std::vector<size_t> at(nodes, 0);
  for (bool moved = true; moved;) {
    moved = false;
    for (int first = 0; first < int(nodes); first++) {
      std::vector<int> group = group_of(program, at, first);
      if (group.empty()) continue;
      moved = true;
      bool is_bcast = program[first][at[first]].op == kBcast, is_wrong = false;
      const Command &start = program[first][at[first]];
      std::vector<uint32_t> words(memory[first].begin() + start.addr,
                                  memory[first].begin() + start.addr + start.len);
      for (int node : group) {
        const Command &one = program[node][at[node]++];
        int came = int(words.size()), taken = std::min(came, one.len);
        is_wrong = is_wrong || one.len != start.len;
        for (int i = 0; node != first && i < taken; i++) {
          memory[node][one.addr + i] = words[i];
          expected.writes[node].push_back({one.addr + i, words[i]});
        }
        expected.is_short[node].push_back(came < one.len);
        expected.is_long[node].push_back(came > one.len);
        expected.through[node].push_back(expected.writes[node].size());
        if (!is_bcast) words.resize(taken);
      }
      expected.has_wrong_bcast = expected.has_wrong_bcast || (is_bcast && is_wrong);
    }
  }
  expected.is_legal = true;
  for (size_t node = 0; node < nodes; node++)
    expected.is_legal = expected.is_legal && at[node] == program[node].size();
  return expected;
}

inline void print(const Program &program, const std::vector<size_t> &shown,
                  const std::vector<size_t> &ended) {
  const char *names[] = {"bcast from", "send to", "recv from", "fwd from"};
  for (size_t node = 0; node < program.size(); node++)
    for (size_t i = 0; i < program[node].size(); i++) {
      const Command &one = program[node][i];
      std::printf("  node %2zu, gap %3d: %-10s %2d, addr %3d, %3d words, members or target %#x%s\n",
                  node, one.gap, names[one.op], one.peer, one.addr, one.len, one.members,
                  i < ended[node] ? "" : i < shown[node] ? "  <- taken, does not end" : "  <- waits");
    }
}

#endif
