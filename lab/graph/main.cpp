// hyphos-lab-graph: runs the graph of a robot.yaml with synthetic nodes, in the processes of the
// plan. Prints one JSON object that shows whether all messages arrived, and their lateness.

#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <optional>

#include "hyphos/plan.hpp"
#include "lab/common/child.hpp"
#include "lab/common/stats.hpp"
#include "lab/graph/options.hpp"
#include "lab/graph/report.hpp"
#include "lab/graph/sheet.hpp"
#include "lab/graph/synthetic.hpp"

namespace hyphos::lab::graph {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kWarmups = 3;
// The same limits as in the other workloads: messages that have not arrived by then are lost.
constexpr std::int64_t kNoProgress = 4 * kSecond, kLongestDrain = 20 * kSecond;

/// Starts one process for each process of the plan, leads them through the steps and reports. No
/// process outlives this object.
class Conductor {
 public:
  explicit Conductor(Options options)
      : options_(std::move(options)),
        plan_(load_plan(options_.plan, {.overrides = options_.overrides}).or_throw()),
        ends_(plan_) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (ends_.sources.empty()) {
      throw std::runtime_error(options_.plan +
                               ": no channel has a load: give the relevant channels "
                               "publishers, subscribers and a load: {rate_hz: …, size: …}");
    }
    for (const auto& [process, cpus] : options_.cpus) expect_placeable(process, cpus);
    options_.sheet_fd = create_shared_file();
    sheet_.emplace(options_.sheet_fd, ends_, options_.figures, true);
  }
  Conductor(const Conductor&) = delete;
  Conductor& operator=(const Conductor&) = delete;
  ~Conductor() {
    for (Child& child : children_) end_child(child);
    std::error_code error;
    std::filesystem::remove(
        "/dev/shm/hyphos-" + std::to_string(getuid()) + "/lab" + std::to_string(options_.run),
        error);
  }

  void run() {
    for (const ProcessPlan& process : plan_.processes) start(process);
    Sheet::Head& head = sheet_->head();
    wait("a process did not start", 60 * kSecond, [&] { return head.ready == children_.size(); });
    sheet_->phase().enter(kWarmingUp);
    wait("a subscriber did not receive the warm-up", 60 * kSecond, [&] { return warm(); });
    sheet_->phase().enter(kWarm);
    quiet_down(&Sheet::Flow::warm);
    for (Child& child : children_) child.cpu_start_ns = child.read_cpu_ns();
    const std::int64_t begin = now_ns() + kSecond / 50;
    const auto window = static_cast<std::int64_t>(options_.seconds * 1e9);
    head.first_send_ns.store(begin);
    head.span_ns.store(window);
    sheet_->phase().enter(kMeasuring);
    wait("a publisher did not end", window + 60 * kSecond, [&] { return done(); });
    seconds_ = static_cast<double>(now_ns() - begin) / 1e9;
    if (options_.figures) drain();
    for (Child& child : children_) child.cpu_ns = child.read_cpu_ns() - child.cpu_start_ns;
    if (!options_.figures) quiet_down(&Sheet::Flow::received);
    report(begin);
    sheet_->phase().enter(kStopping);
    stop();
  }

 private:
  void expect_placeable(const std::string& process, const std::string& cpus) const {
    if (plan_.process(process) == nullptr) {
      throw std::invalid_argument("--cpus: the plan has no process '" + process + "'");
    }
    const std::string what = "--cpus " + process;
    Cpus::parse(what, cpus).expect_here(what);
  }

  void start(const ProcessPlan& process) {
    std::vector<std::string> command{"/proc/self/exe"};
    for (std::string& word : child_arguments(options_, process.name)) {
      command.push_back(std::move(word));
    }
    std::string space;
    for (const auto& [host, name] : options_.namespaces) {
      if (host == process.host) space = name;
    }
    std::string cpus;
    for (const auto& [name, list] : options_.cpus) {
      if (name == process.name) cpus = list;
    }
    children_.push_back(start_child(command, space, process.name, cpus));
  }

  /// Waits until `reached`. Throws `what` when the time is over, and throws if a process died.
  void wait(const char* what, std::int64_t patience_ns, const std::function<bool()>& reached) {
    for (const std::int64_t limit = now_ns() + patience_ns; !reached();) {
      sleep_until(now_ns() + 10'000'000);
      expect_all_running(children_);
      if (now_ns() > limit) throw std::runtime_error(what);
    }
  }

  [[nodiscard]] bool warm() const {
    for (std::size_t i = 0; i < ends_.flows.size(); ++i) {
      if (sheet_->flow(i).warm.load() < kWarmups) return false;
    }
    return true;
  }
  [[nodiscard]] bool done() const {
    for (std::size_t i = 0; i < ends_.sources.size(); ++i) {
      if (sheet_->source(i).done.load() == 0) return false;
    }
    return true;
  }
  /// Waits until no message has arrived for a while.
  void quiet_down(std::atomic<std::int64_t> Sheet::Flow::* count) {
    std::int64_t seen = -1, progress = now_ns();
    wait("messages did not stop", 120 * kSecond, [&] {
      std::int64_t now = 0;
      for (std::size_t i = 0; i < ends_.flows.size(); ++i) now += (sheet_->flow(i).*count).load();
      if (now != seen) progress = now_ns();
      seen = now;
      return now_ns() - progress > kSecond / 6;
    });
  }

  /// Waits until every sent message has arrived, or no more messages arrive.
  void drain() {
    const std::int64_t begin = now_ns();
    std::int64_t seen = -1, progress = begin;
    wait("messages did not stop", 2 * kLongestDrain, [&] {
      std::int64_t now = 0, due = 0;
      for (std::size_t i = 0; i < ends_.flows.size(); ++i) {
        now += sheet_->flow(i).received.load();
        due += expected(ends_, *sheet_, *ends_.flows[i].channel);
      }
      if (now != seen) progress = now_ns();
      seen = now;
      // A reply may still be in computation.
      const std::int64_t quiet = now >= due ? kSecond / 6 : kNoProgress;
      return now_ns() - progress > quiet || now_ns() - begin > kLongestDrain;
    });
  }

  void stop() {
    for (const std::int64_t limit = now_ns() + 4 * kSecond; now_ns() < limit;) {
      bool any = false;
      for (Child& child : children_) any = !child.has_ended() || any;
      if (!any) return;
      sleep_until(now_ns() + 5'000'000);
    }
  }

  void report(std::int64_t begin_ns) const {
    std::int64_t memory_kb = 0;
    JsonLine cpus;
    for (const Child& child : children_) {
      memory_kb += child.read_memory_kb();
      cpus.add(child.role.c_str(), Cpus::of(child.pid).text());
    }
    const Outcome outcome{options_, ends_,    *sheet_,   children_,
                          seconds_, begin_ns, memory_kb, cpus.str()};
    std::puts((options_.figures ? report_figures(outcome) : report_load(outcome)).c_str());
  }

  Options options_;
  Plan plan_;
  Ends ends_;
  std::optional<Sheet> sheet_;
  std::vector<Child> children_;
  double seconds_ = 0;
};

int run(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.describe) {
      std::puts(describe().c_str());
    } else if (options.process.empty()) {
      Conductor(options).run();
    } else {
      Synthetic(options).run();
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hyphos-lab-graph: %s\n", error.what());
    return 1;
  }
}

}  // namespace
}  // namespace hyphos::lab::graph

int main(int argc, char** argv) { return hyphos::lab::graph::run(argc, argv); }
