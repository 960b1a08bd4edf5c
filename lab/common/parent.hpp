#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/common/child.hpp"
#include "lab/common/clock.hpp"
#include "lab/common/late.hpp"
#include "lab/common/options.hpp"
#include "lab/common/paper.hpp"
#include "lab/common/port_block.hpp"
#include "lab/common/schedule.hpp"
#include "lab/common/sheet.hpp"
#include "lab/common/stats.hpp"

namespace hyphos::lab {

// Starts the processes of one run, measures the window and prints the result. No process and no
// file outlives the run, even after a crash.
class Parent {
 public:
  /// `program` plays the roles that its arguments name.
  Parent(std::string peer, Options o, std::vector<std::string> program = {"/proc/self/exe"})
      : peer_(std::move(peer)), o_(std::move(o)), program_(std::move(program)) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a killed driver leaves no load on the machine
    for (const std::string role : {"pub", "hop", "sub"}) {
      const std::string what = "--" + role + "-cpus";
      if (!o_.cpus_of(role).empty()) Cpus::parse(what, o_.cpus_of(role)).expect_here(what);
    }
    if (o_.run_id == 0) o_.run_id = getpid();
    if (o_.ports == 0) o_.ports = ports_.first();
    if (o_.run_dir.empty()) o_.run_dir = "/dev/shm/hyphos-lab-" + std::to_string(o_.run_id);
    std::filesystem::create_directory(o_.run_dir);
    o_.sheet_fd = create_shared_file();
  }
  Parent(const Parent&) = delete;
  Parent& operator=(const Parent&) = delete;
  ~Parent() {
    for (auto& child : children_) end_child(child);
    if (daemon_.pid > 0) end_child(daemon_);
    std::filesystem::remove_all(o_.run_dir);
  }

  [[nodiscard]] const Options& options() const { return o_; }

  /// `daemon` is the command line of the daemon. Empty: no daemon. `where` is its machine.
  int run(const std::vector<std::string>& daemon, const Machine& where) {
    Sheet sheet(o_.sheet_fd, o_, true);
    if (!daemon.empty()) daemon_ = start_child(daemon, where.netns, "daemon");
    start_children();
    // Sources give up by themselves, so a process that takes longer hangs. limit_s() in
    // python/hyphos/lab/runner.py exceeds the sum of these three limits.
    const auto children = static_cast<std::uint32_t>(children_.size());
    const double slack_s = 90 + children;
    const double length_s = o_.floods() ? 120 : 2 * static_cast<double>(o_.count) / o_.rate_hz;
    await(sheet, slack_s, "to start", [&] { return sheet.head().ready.load() >= children; });
    sheet.phase().enter(kWarmingUp);
    await(sheet, 30 + o_.longest_warm_up_s(), "to warm up",
          [&] { return all_sources(sheet, &Sheet::Source::warm); });
    sheet.phase().enter(kWarm);
    start_cpu();
    sheet.head().first_send_ns.store(now_ns() + (o_.floods() ? 0 : 20'000'000));
    sheet.phase().enter(kMeasuring);
    if (o_.uncapped()) measure_windows(sheet);
    await(sheet, slack_s + length_s, "to send and receive",
          [&] { return all_sources(sheet, &Sheet::Source::done); });
    if (!o_.uncapped()) stop_cpu();
    for (auto& child : children_) {
      memory_kb_ += child.read_memory_kb();
      child.cpus = Cpus::of(child.pid);
    }
    if (daemon_.pid > 0) memory_kb_ += daemon_.read_memory_kb();
    sheet.phase().enter(kStopping);
    stop_children();
    std::puts(report(sheet).c_str());
    return 0;
  }

 private:
  void start_children() {
    if (o_.in_process()) {
      start_role("both", 0);
      return;
    }
    for (int i = 0; i < o_.sinks(); ++i) start_role("sub", i);
    for (int i = 0; i < o_.hops(); ++i) start_role("hop", i);
    for (int i = 0; i < o_.sources(); ++i) start_role("pub", i);
  }

  void start_role(const std::string& role, int index) {
    std::vector<std::string> command = program_;
    for (auto& argument : child_arguments(o_, role, index)) command.push_back(std::move(argument));
    const std::string& netns = o_.machine_of(role, index).netns;
    children_.push_back(start_child(command, netns, role, o_.cpus_of(role)));
  }

  /// Sleeps until `reached`. Throws if a process died or the time is over.
  template <typename F>
  void await(const Sheet& sheet, double limit_s, const char* what, F reached) {
    const std::int64_t limit = now_ns() + static_cast<std::int64_t>(limit_s * 1e9);
    for (;;) {
      const std::uint32_t seen = sheet.head().steps.load();
      if (reached()) return;
      futex::wait_for(sheet.head().steps, seen, 1'000'000'000, futex::Scope::shared);
      expect_all_running(children_);
      if (daemon_.pid > 0) expect_running(daemon_);
      if (now_ns() > limit) {
        throw std::runtime_error("the run took more than " + number(limit_s) + " s " + what);
      }
    }
  }

  [[nodiscard]] bool all_sources(const Sheet& sheet,
                                 std::atomic<std::uint32_t> Sheet::Source::* field) const {
    for (int i = 0; i < o_.sources(); ++i) {
      if ((sheet.head().sources[i].*field).load() == 0) return false;
    }
    return true;
  }

  void start_cpu() {
    for (auto& child : children_) child.cpu_start_ns = child.read_cpu_ns();
    if (daemon_.pid > 0) daemon_.cpu_start_ns = daemon_.read_cpu_ns();
    cpu_begin_ns_ = now_ns();
  }
  void stop_cpu() {
    for (auto& child : children_) child.cpu_ns = child.read_cpu_ns() - child.cpu_start_ns;
    if (daemon_.pid > 0) daemon_.cpu_ns = daemon_.read_cpu_ns() - daemon_.cpu_start_ns;
    cpu_wall_ns_ = now_ns() - cpu_begin_ns_;
  }

  /// Measures the rate of arrivals in each window from outside: one reading per window, at an
  /// instant that is measured as well. CPU time covers all windows.
  void measure_windows(const Sheet& sheet) {
    const std::int64_t begin = sheet.head().first_send_ns.load();
    const Windows windows(o_.seconds);
    std::int64_t from = begin, before = 0;
    for (int i = 1; i <= windows.count; ++i) {
      const std::int64_t end = begin + static_cast<std::int64_t>(i * windows.length_s * 1e9);
      while (now_ns() < end) {
        sleep_until(std::min(end, now_ns() + 1'000'000'000));
        expect_all_running(children_);
        if (daemon_.pid > 0) expect_running(daemon_);
      }
      const std::int64_t now = now_ns(), seen = sheet.head().flows[0].received.load();
      rates_.push_back(static_cast<double>(seen - before) * 1e9 / static_cast<double>(now - from));
      from = now;
      before = seen;
    }
    stop_cpu();
  }

  // First ask the children to end, so that the middleware removes its files in /dev/shm. Kill the
  // children that do not end.
  void stop_children() {
    const std::int64_t begin = now_ns();
    for (bool any = true; any && now_ns() - begin < 4'000'000'000;) {
      sleep_until(now_ns() + 10'000'000);
      any = false;
      for (auto& child : children_) {
        if (child.has_ended()) continue;
        any = true;
        if (now_ns() - begin > 150'000'000) kill(child.pid, SIGUSR1);
      }
    }
    for (auto& child : children_) end_child(child);
  }

  /// The combined measurements of all flows.
  struct Sums {
    std::vector<std::int64_t> latencies, open_latencies, costs, means;
    std::int64_t sent = 0, expected = 0, late_sends = 0;
    std::int64_t received = 0, duplicates = 0, corrupt = 0, last_ns = 0;
    double bytes = 0;                     // received
    std::string flow_p95, flow_received;  // lists that show whether all flows were served equally
    std::string flow_sent, late_parts, least_late;  // lists that show whether queues grow
  };

  /// From the first due time to the due time that would follow the last message.
  [[nodiscard]] std::int64_t span_ns(const Schedule& schedule) const {
    return o_.floods() ? 0 : schedule.due(o_.count - 1) + std::llround(schedule.period_ns());
  }

  /// Adds the figures that show whether the queues of a flow grow.
  void add_lateness(Sums& sums, const Sheet& sheet, int flow, const Schedule& schedule) const {
    const int source = o_.source_of(flow);
    const auto lateness = sheet.lateness(source);
    const auto latencies = sheet.latencies(flow);
    LateParts late(span_ns(schedule));
    for (std::size_t i = 0; i < lateness.size(); ++i) {
      if (latencies[i] == 0) continue;
      late.add(schedule.due(static_cast<std::int64_t>(i)), latencies[i] + lateness[i]);
    }
    const std::string comma = flow == 0 ? "" : ", ";
    sums.flow_sent += comma + std::to_string(sheet.head().sources[source].sent.load());
    sums.late_parts += comma + list_of(late.medians_us());
    sums.least_late += comma + number(late.least_us());
  }

  [[nodiscard]] Sums sum_up(const Sheet& sheet) const {
    Sums sums;
    const Schedule schedule(o_);
    for (int f = 0; f < o_.flows(); ++f) {
      const int source = o_.source_of(f);
      const auto lateness = sheet.lateness(source);
      std::vector<std::int64_t> own;
      for (std::size_t i = 0; i < lateness.size(); ++i) {
        const std::int64_t ns = sheet.latencies(f)[i];
        if (ns == 0) continue;
        own.push_back(ns);
        sums.bytes += static_cast<double>(schedule.size(static_cast<std::int64_t>(i)));
        sums.open_latencies.push_back(ns + lateness[i]);
      }
      const Sheet::Flow& flow = sheet.head().flows[f];
      sums.expected += sheet.head().sources[source].sent.load();
      sums.received += flow.received.load() - flow.duplicates.load();
      sums.duplicates += flow.duplicates.load();
      sums.corrupt += flow.corrupt.load();
      sums.last_ns = std::max(sums.last_ns, flow.last_receive_ns.load());
      sums.flow_received += (f == 0 ? "" : ", ") + std::to_string(own.size());
      sums.latencies.insert(sums.latencies.end(), own.begin(), own.end());
      if (!o_.floods()) {
        append_means(sums.means, own);
        add_lateness(sums, sheet, f, schedule);
      }
      std::sort(own.begin(), own.end());
      sums.flow_p95 += (f == 0 ? "" : ", ") + number(percentile_us(own, 95));
    }
    for (int s = 0; s < o_.sources(); ++s) {
      sums.sent += sheet.head().sources[s].sent.load();
      sums.late_sends += sheet.head().sources[s].late_sends.load();
      for (const std::int64_t cost : sheet.costs(s)) {
        if (cost != 0) sums.costs.push_back(cost);
      }
    }
    return sums;
  }

  /// The processors that the processes of each role may use, as reported by the kernel.
  [[nodiscard]] std::string cpus() const {
    std::map<std::string, Cpus> by_role;
    for (const auto& child : children_) by_role[child.role].add(child.cpus);
    JsonLine line;
    for (const auto& [role, some] : by_role) line.add(role.c_str(), some.text());
    return line.str();
  }

  [[nodiscard]] std::string report(const Sheet& sheet) const {
    const Sums sums = sum_up(sheet);
    double cpu_us = 0, pub_cpu_us = 0;
    for (const auto& child : children_) {
      cpu_us += static_cast<double>(child.cpu_ns) / 1e3;
      if (child.role == "pub") pub_cpu_us += static_cast<double>(child.cpu_ns) / 1e3;
    }
    const double seconds =
        static_cast<double>(sums.last_ns - sheet.head().first_send_ns.load()) / 1e9;
    const auto received = static_cast<double>(sums.received);
    // In the uncapped shape, sent and dropped messages may far outnumber the received ones.
    const auto counted =
        static_cast<double>(std::max<std::int64_t>(o_.uncapped() ? sums.received : sums.sent, 1));
    const auto planned = static_cast<double>(o_.count) * o_.sources();
    const double bytes = o_.uncapped() ? received * static_cast<double>(o_.size) : sums.bytes;
    JsonLine out;
    out.add("peer", peer_).add("variant", o_.variant).add("shape", to_string(o_.shape));
    out.add("size", static_cast<double>(o_.size)).add("rate", o_.floods() ? 0 : o_.rate_hz);
    out.add("processes", static_cast<double>(children_.size()));
    out.add("sources", o_.sources()).add("flows", o_.flows());
    out.add("planned", o_.uncapped() ? static_cast<double>(sums.sent) : planned);
    out.add("sent", static_cast<double>(sums.sent));
    out.add("received", received);
    out.add("lost", static_cast<double>(sums.expected) - received);
    out.add("duplicates", static_cast<double>(sums.duplicates));
    out.add("corrupt", static_cast<double>(sums.corrupt));
    out.add("late_sends", static_cast<double>(sums.late_sends));
    out.add("samples", static_cast<double>(sums.latencies.size()));
    out.add_percentiles("", sums.latencies).add_percentiles("open_", sums.open_latencies);
    out.add_percentiles("pub_cost_", sums.costs);
    out.add("cpu_us_per_msg", cpu_us / counted);
    // Within one process, the publisher's share cannot be separated.
    out.add("pub_cpu_us_per_msg", o_.in_process() ? std::nan("") : pub_cpu_us / counted);
    add_utilization(out, cpu_us, pub_cpu_us);
    out.add("memory_mb", static_cast<double>(memory_kb_) / 1024);
    out.add("seconds", seconds);
    out.add("messages_per_s", received / seconds);
    out.add("mb_per_s", bytes / 1e6 / seconds);
    out.raw("cpus", cpus());
    out.raw("flow_p95_us", "[" + sums.flow_p95 + "]");
    out.raw("flow_received", "[" + sums.flow_received + "]");
    if (!o_.floods()) {
      out.add("span_s", static_cast<double>(span_ns(Schedule(o_))) / 1e9);
      out.raw("flow_sent", "[" + sums.flow_sent + "]");
      out.raw("late_parts_us", "[" + sums.late_parts + "]");
      out.raw("least_late_us", "[" + sums.least_late + "]");
    }
    out.raw("histogram_ns", histogram(sums.latencies));
    out.raw("open_histogram_ns", histogram(sums.open_latencies));
    out.raw("average_delay_histogram_ns", histogram(sums.means));
    out.raw("publishing_rates_hz", list_of(rates_));
    return out.str();
  }

  /// CPU use in per cent of one processor: of all processes including the daemon, of the daemon,
  /// and of the publishers.
  void add_utilization(JsonLine& out, double cpu_us, double pub_cpu_us) const {
    const double percent = 100e3 / static_cast<double>(std::max<std::int64_t>(cpu_wall_ns_, 1));
    const double daemon_us = static_cast<double>(daemon_.cpu_ns) / 1e3;
    out.add("cpu_utilization", (cpu_us + daemon_us) * percent);
    out.add("daemon_cpu_utilization", daemon_.pid > 0 ? daemon_us * percent : std::nan(""));
    out.add("pub_cpu_utilization", o_.in_process() ? std::nan("") : pub_cpu_us * percent);
  }

  std::string peer_;
  Options o_;
  std::vector<std::string> program_;
  PortBlock ports_;
  std::vector<Child> children_;
  Child daemon_;
  std::int64_t memory_kb_ = 0;
  std::int64_t cpu_begin_ns_ = 0, cpu_wall_ns_ = 0;
  std::vector<double> rates_;  // rates of arrival in the uncapped shape
};

}  // namespace hyphos::lab
