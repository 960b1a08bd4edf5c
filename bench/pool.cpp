// The thread pool beside oneTBB's flow graph, in turns in one run:
//
//   bench_pool [--rounds N] [--messages N] [--threads N] [--workers N] [--depth N] [--only CASE]
//              [--peer hyphos|tbb]
//
// `concurrent`: one thread publishes back to back to one node that runs in parallel.
// `concurrent_8`: the same to eight such nodes. `serial`: to one node that runs one callback at a
// time. Each prints messages per second, and the ratio to the flow graph: the median of the rounds.
// `wake`: a message each 2 ms to a serial node, and the time until its callback begins.
//
// `--threads`: threads of the pool. `--workers`: threads of the flow graph, beside the one that
// publishes. Without it the flow graph uses one less than the machine has cores.
//
// Each side runs in a process of its own. In one process, workers of oneTBB that still look for
// work of the pool would join the flow graph late, and it would be measured without them.
//
// With `--peer` the program measures one side alone, for `valgrind --tool=callgrind`.

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/hyphos.hpp"
#include "lab/common/clock.hpp"

namespace hyphos::lab {
namespace {

namespace flow = oneapi::tbb::flow;

struct Sample {
  std::int64_t stamp = 0;
  std::int64_t sequence = 0;
  std::array<std::byte, 48> rest{};
};

struct Arguments {
  std::string only;
  std::string peer;
  int rounds = 9;
  long messages = 60'000;
  int threads = 2;
  int workers = 0;               // 0: the default of oneTBB
  std::uint32_t depth = 65'536;  // of the queues. The queues of the flow graph have no bound
};

/// Counts the callbacks, and lets one thread wait for the last one.
class Arrivals {
 public:
  explicit Arrivals(long expected) : expected_(expected) {}
  void add() {
    if (count_.fetch_add(1, std::memory_order_relaxed) + 1 == expected_) {
      over_.store(true);
      over_.notify_all();
    }
  }
  void wait() const { over_.wait(false); }

 private:
  const long expected_;
  std::atomic<long> count_{0};
  std::atomic<bool> over_{false};
};

using OnSample = std::function<void(const Sample&)>;

/// The same calls for both sides. `nodes` callbacks receive each message.
class Side {
 public:
  virtual ~Side() = default;
  virtual void publish(const Sample& sample) = 0;
};

class Hyphos final : public Side {
 public:
  Hyphos(Mode mode, int nodes, const Arguments& args, const OnSample& on_sample)
      : runtime_(Runtime::open(options(args.threads)).or_throw()),
        node_(runtime_.node("pool").or_throw()) {
    Policy policy;
    policy.overflow = Overflow::block;
    policy.depth = args.depth;
    publisher_ = node_.publisher<Sample>("sample", {.policy = policy});
    for (int i = 0; i < nodes; ++i) {
      node_.subscribe<Sample>("sample", {.mode = mode, .policy = policy},
                              [on_sample](const Message<Sample>& m) { on_sample(*m); });
    }
  }
  ~Hyphos() override { node_.close(); }
  void publish(const Sample& sample) override { publisher_.publish(sample); }

 private:
  static RuntimeOptions options(int threads) {
    RuntimeOptions options;
    options.offline = true;
    options.threads = threads;
    return options;
  }
  Runtime runtime_;
  Node node_;
  Publisher<Sample> publisher_;
};

class Tbb final : public Side {
 public:
  Tbb(Mode mode, int nodes, const OnSample& on_sample) {
    const std::size_t at_once = mode == Mode::serial ? flow::serial : flow::unlimited;
    for (int i = 0; i < nodes; ++i) {
      sinks_.push_back(std::make_unique<Sink>(graph_, at_once, [on_sample](const Pointer& sample) {
        on_sample(*sample);
        return flow::continue_msg();
      }));
      flow::make_edge(source_, *sinks_.back());
    }
  }
  ~Tbb() override { graph_.wait_for_all(); }
  void publish(const Sample& sample) override {
    source_.try_put(std::make_shared<const Sample>(sample));
  }

 private:
  using Pointer = std::shared_ptr<const Sample>;
  using Sink = flow::function_node<Pointer>;
  flow::graph graph_;
  flow::broadcast_node<Pointer> source_{graph_};
  std::vector<std::unique_ptr<Sink>> sinks_;
};

struct Case {
  const char* name;
  Mode mode;
  int nodes;
  bool paced;
};
constexpr Case kCases[] = {{"concurrent", Mode::concurrent, 1, false},
                           {"concurrent_8", Mode::concurrent, 8, false},
                           {"serial", Mode::serial, 1, false},
                           {"wake", Mode::serial, 1, true}};

std::unique_ptr<Side> open(const std::string& peer, const Case& what, const Arguments& args,
                           const OnSample& on_sample) {
  if (peer == "tbb") return std::make_unique<Tbb>(what.mode, what.nodes, on_sample);
  return std::make_unique<Hyphos>(what.mode, what.nodes, args, on_sample);
}

// Returns messages per second.
std::vector<double> flood(const std::string& peer, const Case& what, const Arguments& args) {
  const long warm = args.messages / 10;
  Arrivals warmed(warm * what.nodes);
  Arrivals all(args.messages * what.nodes);
  const auto side = open(peer, what, args,
                         [&](const Sample& sample) { (sample.sequence < 0 ? warmed : all).add(); });
  for (long i = 0; i < warm; ++i) side->publish({0, -1});
  warmed.wait();
  const std::int64_t begin = now_ns();
  for (long i = 0; i < args.messages; ++i) side->publish({0, i});
  all.wait();
  return {static_cast<double>(args.messages) * 1e9 / static_cast<double>(now_ns() - begin)};
}

// Returns the latencies in microseconds, sorted.
std::vector<double> wake(const std::string& peer, const Case& what, const Arguments& args) {
  constexpr std::int64_t kPeriodNs = 2'000'000;
  const auto count = static_cast<std::size_t>(std::max(args.messages / 100, 10L));
  std::vector<double> took(count);
  Arrivals all(static_cast<long>(count));
  const auto side = open(peer, what, args, [&](const Sample& sample) {
    took[static_cast<std::size_t>(sample.sequence)] =
        static_cast<double>(now_ns() - sample.stamp) / 1e3;
    all.add();
  });
  std::int64_t due = now_ns();
  for (std::size_t i = 0; i < count; ++i) {
    sleep_until(due += kPeriodNs);
    side->publish({now_ns(), static_cast<std::int64_t>(i)});
  }
  all.wait();
  std::sort(took.begin(), took.end());
  return took;
}

std::vector<double> one(const std::string& peer, const Case& what, const Arguments& args) {
  const auto run = [&] { return what.paced ? wake(peer, what, args) : flood(peer, what, args); };
  if (peer != "tbb" || args.workers == 0) return run();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(args.workers) + 1);
  tbb::task_arena arena(args.workers + 1);
  return arena.execute(run);
}

// Measures in a child process. This process has one thread, so the child can make its own.
std::vector<double> apart(const std::string& peer, const Case& what, const Arguments& args) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::runtime_error("pipe: cannot start the measurement");
  const ::pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork: cannot start the measurement");
  if (child == 0) {
    std::FILE* const out = ::fdopen(ends[1], "w");
    for (const double value : one(peer, what, args)) std::fwrite(&value, sizeof(value), 1, out);
    std::fclose(out);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::FILE* const in = ::fdopen(ends[0], "r");
  std::vector<double> values;
  for (double value = 0; std::fread(&value, sizeof(value), 1, in) == 1;) values.push_back(value);
  std::fclose(in);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0 || values.empty()) throw std::runtime_error(peer + ": the measurement failed");
  return values;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

void measure(const Case& what, const Arguments& args) {
  const std::array<std::string, 2> peers = {"hyphos", "tbb"};
  std::array<std::vector<double>, 2> high;  // messages per second, or p50
  std::array<std::vector<double>, 2> p95;
  std::vector<double> ratios;
  for (int round = 0; round < args.rounds; ++round) {
    for (std::size_t turn = 0; turn < peers.size(); ++turn) {
      const std::size_t i = (turn + static_cast<std::size_t>(round)) % peers.size();
      if (!args.peer.empty() && args.peer != peers[i]) continue;
      // With one side, a profiler sees this process.
      const auto took = args.peer.empty() ? apart(peers[i], what, args) : one(peers[i], what, args);
      high[i].push_back(took[took.size() / 2]);
      if (what.paced) p95[i].push_back(took[took.size() * 95 / 100]);
    }
    if (args.peer.empty()) ratios.push_back(high[0].back() / high[1].back());
  }
  std::sort(ratios.begin(), ratios.end());
  const auto rounded = [](double value) { return static_cast<long>(value + 0.5); };
  std::printf("%-13s", what.name);
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (high[i].empty()) continue;
    if (what.paced) {
      std::printf(" %s p50 %.1f us p95 %.1f us", peers[i].c_str(), median(high[i]), median(p95[i]));
    } else {
      std::printf(" %s %ld/s", peers[i].c_str(), rounded(median(high[i])));
    }
  }
  if (!ratios.empty()) {
    std::printf("  ratio %.2f (%.2f to %.2f)", median(ratios), ratios.front(), ratios.back());
  }
  std::puts("");
  std::fflush(stdout);
}

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  hyphos::lab::Arguments args;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--only") args.only = argv[i + 1];
    if (option == "--peer") args.peer = argv[i + 1];
    if (option == "--rounds") args.rounds = std::atoi(argv[i + 1]);
    if (option == "--messages") args.messages = std::atol(argv[i + 1]);
    if (option == "--depth") args.depth = static_cast<std::uint32_t>(std::atol(argv[i + 1]));
    if (option == "--threads") args.threads = std::atoi(argv[i + 1]);
    if (option == "--workers") args.workers = std::atoi(argv[i + 1]);
  }
  hyphos::lab::use_precise_timers();
  try {
    for (const auto& one : hyphos::lab::kCases) {
      if (args.only.empty() || args.only == one.name) hyphos::lab::measure(one, args);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_pool: %s\n", error.what());
    return 1;
  }
}
