// SPDX-License-Identifier: MIT OR Apache-2.0
// Random programs in tens of thousands on the engines (soak_tb.sv), against soak_golden.h.
//
// Memories, programs and the model of what must happen are this bench's own. Every word that is
// written is compared, address and data, in order; so are every end and every error. A program that
// makes no progress is printed with the line that runs it again.
//   soak PROGRAMS [SEED [FIRST]]
#include <cstdlib>
#include <memory>

#include "Vsoak_tb.h"
#include "soak_golden.h"
#include "verilated.h"

namespace {

constexpr int kNodes = SOAK_NODES;  // as the hardware was built

struct Random {  // splitmix64
  uint64_t state;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  int below(int bound) { return int(next() % uint64_t(bound)); }
  bool one_in(int chances) { return below(chances) == 0; }
};

struct Maker {
  Random &random;
  Program program = Program(kNodes);
  int gap_max = 0;

  void give(int node, Op op, int peer, int length, uint32_t members) {
    int gap = random.one_in(2) ? random.below(gap_max + 1) : 0;
    program[node].push_back({op, peer, random.below(kWords - length + 1), length, members, gap});
  }

  // A message in which everybody gives `length(node)`.
  template <class Length>
  void message(Length length) {
    int order[kNodes];
    for (int i = 0; i < kNodes; i++) order[i] = i;
    for (int i = 0; i < kNodes; i++) std::swap(order[i], order[i + random.below(kNodes - i)]);
    int size = random.one_in(3) ? 2 + random.below(kNodes - 1) : 2;
    if (random.one_in(2)) {
      uint32_t members = 0;
      for (int i = 0; i < size; i++) members |= 1u << order[i];
      for (int i = 0; i < size; i++) give(order[i], kBcast, order[0], length(order[i]), members);
      return;
    }
    for (int i = 0; i < size; i++) {
      int before = i ? order[i - 1] : order[1], after = i + 1 < size ? order[i + 1] : 0;
      Op op = i == 0 ? kSend : i + 1 < size ? kFwd : kRecv;
      give(order[i], op, before, length(order[i]), uint32_t(after));
    }
  }

  int length() {
    if (random.one_in(5)) return 0;
    if (random.one_in(12)) return random.below(kWords);
    return random.one_in(2) ? 1 + random.below(3) : random.below(24);
  }

  void legal(int messages) {
    for (; messages > 0; messages--) {
      int words = length();
      message([&](int) { return words; });
    }
  }
};

struct Bench {
  VerilatedContext context;
  Vsoak_tb dut{&context};
  Memories memory = Memories(kNodes, std::vector<uint32_t>(kWords));
  Random random{0};
  Program program;
  Expected expected;
  std::vector<size_t> shown, ended, written;
  std::vector<int> wait;
  std::vector<size_t> given;          // commands that a core gives at most
  std::vector<bool> was_long, aborts, has_aborted;
  uint64_t clocks = 0, quiet = 0, holds = 0, words = 0;
  int stall_chances = 0;  // one in so many clocks and nodes; 0 for none
  const char *fault = nullptr;
  int fault_node = 0;
  static constexpr uint64_t quiet_max = 40 + 8 * kNodes;  // longer than any wait that can end

  bool check(bool holds_true, const char *what, int node) {
    if (!holds_true && !fault) fault = what, fault_node = node;
    return holds_true;
  }

  void idle_inputs() {
    for (int n = 0; n < kNodes; n++)
      dut.cmd_valid_i[n] = 0, dut.abort_i[n] = 0, dut.mem_rdy_i[n] = 1;
  }

  // The sampled half of a clock must lie before its edge.
  void edge() {
    dut.clk_i = 1;
    dut.eval();
    dut.clk_i = 0;
    clocks++;
  }

  void reset(int length) {
    idle_inputs();
    dut.rst_ni = 0;
    for (int i = 0; i < length; i++) dut.eval(), edge();
    dut.rst_ni = 1;
  }

  void start(Program next) {
    program = std::move(next);
    for (auto &words_of : memory)
      for (auto &word : words_of) word = uint32_t(random.next());
    expected = run_one_by_one(program, memory);
    shown.assign(kNodes, 0), ended.assign(kNodes, 0), written.assign(kNodes, 0);
    was_long.assign(kNodes, false), wait.assign(kNodes, 0), given.clear();
    aborts.assign(kNodes, false), has_aborted.assign(kNodes, false);
    for (auto &list : program) given.push_back(list.size());
    for (int n = 0; n < kNodes; n++) wait[n] = program[n].empty() ? 0 : program[n][0].gap;
    quiet = 0;
  }

  bool has_ended() const {
    for (int n = 0; n < kNodes; n++)
      if (ended[n] < program[n].size()) return false;
    return true;
  }

  // One clock of cores, memories and checks. Returns whether something has moved.
  bool clock() {
    for (int n = 0; n < kNodes; n++) {
      bool shows = shown[n] < given[n] && wait[n] == 0 && !has_aborted[n];
      dut.cmd_valid_i[n] = shows;
      dut.abort_i[n] = aborts[n];
      if (shows) {
        const Command &one = program[n][shown[n]];
        dut.cmd_op_i[n] = one.op, dut.cmd_peer_i[n] = one.peer, dut.cmd_addr_i[n] = one.addr;
        dut.cmd_len_i[n] = one.len, dut.cmd_members_i[n] = one.members;
      } else {  // what a core does not show means nothing
        dut.cmd_op_i[n] = random.below(4), dut.cmd_members_i[n] = uint32_t(random.next());
        dut.cmd_peer_i[n] = random.below(kNodes);
      }
      dut.mem_rdy_i[n] = stall_chances == 0 || !random.one_in(stall_chances);
    }
    dut.eval();
    bool moved = dut.hold_o;
    holds += dut.hold_o;
    uint32_t read[kNodes];
    bool reads[kNodes];
    for (int n = 0; n < kNodes; n++) {
      moved = core(n) || moved;
      reads[n] = memory_port(n, &read[n]);
      moved = moved || dut.mem_req_o[n];
    }
    edge();
    for (int n = 0; n < kNodes; n++) {
      if (reads[n]) dut.mem_rdata_i[n] = read[n];
      has_aborted[n] = has_aborted[n] || aborts[n], aborts[n] = false;
    }
    quiet = moved ? 0 : quiet + 1;
    return moved;
  }

  bool core(int n) {
    bool moved = false;
    if (wait[n] > 0) {
      wait[n]--, moved = true;
    } else if (dut.cmd_valid_i[n] && dut.cmd_ready_o[n]) {
      moved = check(!aborts[n], "a command is taken in the clock of the abort", n);
      if (++shown[n] < given[n]) wait[n] = program[n][shown[n]].gap;
    }
    check(!has_aborted[n] || (!dut.done_o[n] && !dut.busy_o[n] && !dut.err_long_o[n] &&
                              !dut.mem_req_o[n]), "something goes on after an abort", n);
    if (dut.err_long_o[n]) was_long[n] = true;
    check(!dut.err_short_o[n] || dut.done_o[n], "err_short without an end", n);
    return dut.done_o[n] ? end_of_command(n) : moved;
  }

  bool end_of_command(int n) {
    // The words of this clock are looked at later: the last one came a clock before the end.
    size_t k = ended[n];
    if (!check(k < shown[n], "an end too many", n)) return false;
    ended[n]++;
    bool is_short_now = dut.err_short_o[n];
    if (expected.has_wrong_bcast) {
      int came = int(written[n] - (k ? expected.through[n][k - 1] : 0));
      bool receives = program[n][k].op != kBcast || program[n][k].peer != n;
      bool is_last = k + 1 == program[n].size();
      if (receives && is_last && program[n][k].op == kBcast) {
        check(is_short_now == (came < program[n][k].len), "err_short of a wrong broadcast", n);
        was_long[n] = false;
        return true;
      }
    }
    check(is_short_now == expected.is_short[n][k], "err_short", n);
    // A sender that aborts keeps to itself what would have been too much.
    bool is_cut = std::find(has_aborted.begin(), has_aborted.end(), true) != has_aborted.end();
    check(was_long[n] == expected.is_long[n][k] || (is_cut && !was_long[n]), "err_long", n);
    check(written[n] == expected.through[n][k], "words missing at the end of a command", n);
    was_long[n] = false;
    return true;
  }

  // Returns whether a word is read, and which.
  bool memory_port(int n, uint32_t *read) {
    if (!dut.mem_req_o[n]) return false;
    check(dut.mem_rdy_i[n], "access to a memory that is not ready", n);
    int addr = dut.mem_addr_o[n];
    words++;
    if (!dut.mem_we_o[n]) {
      *read = memory[n][addr];
      return true;
    }
    size_t i = written[n]++;
    if (!check(i < expected.writes[n].size(), "a word too many", n)) return false;
    check(addr == expected.writes[n][i].addr, "address of a word", n);
    check(dut.mem_wdata_o[n] == expected.writes[n][i].data, "word", n);
    memory[n][addr] = dut.mem_wdata_o[n];
    return false;
  }

  // Some core stops giving commands; when nothing moves any more, who waits is freed by an abort.
  void abandon() {
    int n = random.below(kNodes);
    if (given[n] > 0) given[n] = size_t(random.below(int(given[n])));
    while (!fault && quiet <= quiet_max) clock();
    for (int other = 0; !fault && other < kNodes; other++) {
      bool waits = dut.busy_o[other] || shown[other] < given[other];
      has_aborted[other] = false, aborts[other] = waits;
      if (waits && random.one_in(2)) clock();
    }
    if (!fault) clock();
    check(is_free(), "a node is not free after the aborts", 0);
  }

  // At any time every node aborts, one after the other or together.
  void abort_all() {
    for (int left = random.below(80); left > 0 && !fault; left--) clock();
    int latest = random.one_in(2) ? 1 : 20;
    std::vector<int> at(kNodes);
    for (int n = 0; n < kNodes; n++) at[n] = random.below(latest);
    for (int t = 0; t < latest && !fault; t++) {
      for (int n = 0; n < kNodes; n++) aborts[n] = at[n] == t;
      clock();
    }
  }

  bool is_free() const {
    for (int n = 0; n < kNodes; n++)
      if (dut.busy_o[n]) return false;
    return true;
  }

  // Returns whether the program did what it must.
  bool run() {
    while (!fault && !has_ended()) {
      clock();
      if (quiet > quiet_max) check(false, "no progress", 0);
    }
    for (int more = 0; !fault && (more < 8 || !is_free()); more++) {
      clock();
      check(more < 2 * kWords * (stall_chances ? 100 : 1), "a node does not become free", 0);
    }
    return !fault;
  }
};

int soak(int programs, uint64_t seed, int first) {
  auto bench = std::make_unique<Bench>();
  bench->reset(3);
  int resets = 0, aborts = 0, wrong = 0;
  size_t commands = 0;
  for (int number = first; number < first + programs; number++) {
    bench->random.state = seed << 32 | uint32_t(number);
    Random &random = bench->random;
    const int gaps[] = {0, 0, 6, 40}, stalls[] = {0, 0, 16 * kNodes, 2 * kNodes};
    Maker maker{random};
    maker.gap_max = gaps[random.below(4)];
    maker.legal(1 + random.below(3 + 2 * std::min(kNodes, 8)));
    bool is_wrong = random.one_in(4);
    if (is_wrong) maker.message([&](int) { return random.below(random.one_in(2) ? 2 : 6); });
    bench->stall_chances = stalls[random.below(4)];
    bench->start(maker.program);
    if (!bench->expected.is_legal) {
      std::printf("program %d is not legal: a fault of the bench\n", number);
      return 1;
    }
    for (auto &list : bench->program) commands += list.size();
    wrong += is_wrong;
    if (random.one_in(5)) {
      random.one_in(2) ? bench->abandon() : bench->abort_all();
      aborts++;
    } else if (random.one_in(8)) {  // a reset in the middle
      for (int left = random.below(60); left > 0 && !bench->fault; left--) bench->clock();
      if (!bench->fault) bench->reset(1 + random.below(3));
      resets++;
    } else {
      bench->run();
    }
    if (bench->fault) {
      std::printf("program %d, clock %llu, node %d: %s\n", number,
                  static_cast<unsigned long long>(bench->clocks), bench->fault_node, bench->fault);
      print(bench->program, bench->shown, bench->ended);
      std::printf("again: %d %llu %d\n", 1, static_cast<unsigned long long>(seed), number);
      return 1;
    }
  }
  std::printf("%d programs, %zu commands, %llu words, %d resets, %d aborts, %d last messages of unequal lengths, "
              "%llu clocks, %llu held\n", programs, commands,
              static_cast<unsigned long long>(bench->words), resets, aborts, wrong,
              static_cast<unsigned long long>(bench->clocks),
              static_cast<unsigned long long>(bench->holds));
  return 0;
}

}  // namespace

int main(int count, char **arguments) {
  auto number = [&](int at, int otherwise) {
    return count > at ? std::atoi(arguments[at]) : otherwise;
  };
  return soak(number(1, 1000), uint64_t(number(2, 1)), number(3, 0));
}
