#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/common/cpus.hpp"

namespace hyphos::lab {

/// The shape of a run: the exchange between its processes.
///   inproc, inproc_flood  one publisher and one subscriber in one process
///   pair                  one direction: pub -> sub
///   echo                  `pairs` times: pub -> hop -> the same pub, which measures the round trip
///   pipeline              pub -> hop -> … -> sub, `processes` in total
///   fanout                pub -> `subscribers` sub
///   fanin                 `publishers` pub -> sub
///   flood                 pub -> sub, back to back, without loss: the publisher waits
///   uncapped              pub -> sub, back to back for `seconds`, with few messages in flight and
///                         possible loss
enum class Shape : std::uint8_t {
  kInproc,
  kInprocFlood,
  kPair,
  kEcho,
  kPipeline,
  kFanout,
  kFanin,
  kFlood,
  kUncapped
};

struct ShapeName {
  Shape shape;
  const char* name;
};
inline constexpr ShapeName kShapeNames[] = {
    {Shape::kInproc, "inproc"},     {Shape::kInprocFlood, "inproc_flood"},
    {Shape::kPair, "pair"},         {Shape::kEcho, "echo"},
    {Shape::kPipeline, "pipeline"}, {Shape::kFanout, "fanout"},
    {Shape::kFanin, "fanin"},       {Shape::kFlood, "flood"},
    {Shape::kUncapped, "uncapped"},
};

inline const char* to_string(Shape shape) {
  for (const auto& entry : kShapeNames) {
    if (entry.shape == shape) return entry.name;
  }
  return "?";
}

inline Shape shape_from(std::string_view name) {
  for (const auto& entry : kShapeNames) {
    if (name == entry.name) return entry.shape;
  }
  throw std::invalid_argument("unknown shape '" + std::string(name) + "'");
}

/// Whether a full queue may drop a message. `own`: the default of the middleware.
enum class Reliability : std::uint8_t { kOwn, kBestEffort, kReliable };

inline Reliability reliability_from(std::string_view name) {
  if (name.empty()) return Reliability::kOwn;
  if (name == "best_effort") return Reliability::kBestEffort;
  if (name == "reliable") return Reliability::kReliable;
  throw std::invalid_argument("unknown reliability '" + std::string(name) +
                              "': use best_effort or reliable");
}

inline constexpr int kMaxFlows = 256;
inline constexpr std::size_t kMaxMachines = 64;

/// The location of processes: a network namespace, or the namespace of the parent if the name is
/// empty.
struct Machine {
  std::string netns;
  std::string address = "127.0.0.1";
};

/// Parses "NETNS=ADDRESS,NETNS=ADDRESS" with two or more entries.
inline std::vector<Machine> machines_from(const std::string& text) {
  std::vector<Machine> machines;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t equals = text.find('=', at);
    if (equals >= end || equals + 1 == end) {
      throw std::invalid_argument("--hosts: '" + text + "' is not a list of NETNS=ADDRESS");
    }
    machines.push_back({text.substr(at, equals - at), text.substr(equals + 1, end - equals - 1)});
    at = end + 1;
  }
  if (machines.size() < 2 || machines.size() > kMaxMachines) {
    throw std::invalid_argument("--hosts: 2 to 64 hosts");
  }
  return machines;
}

inline std::string to_text(const std::vector<Machine>& machines) {
  std::string text;
  for (const Machine& one : machines) {
    text += (text.empty() ? "" : ",") + one.netns + "=" + one.address;
  }
  return text;
}

/// The options of one run. The parent reads them from the command line and passes them, with a
/// role, to each process that it starts.
struct Options {
  Shape shape = Shape::kPair;
  std::string variant;           // one of the peer's variants, such as "ipc"
  std::size_t size = 1024;       // bytes per message, header included
  double rate_hz = 100;          // per publisher. Ignored by floods, which send back to back
  std::int64_t count = 500;      // measured messages per publisher. Uncapped: recorded latencies
  double seconds = 10;           // uncapped: duration
  std::int64_t warmup = 50;      // messages that every subscriber receives before the measurement
  int processes = 3;             // pipeline: source, processes - 2 hops, sink
  int subscribers = 1;           // fanout
  int publishers = 1;            // fanin
  int pairs = 1;                 // echo
  std::string reliability;       // best_effort | reliable. Empty: the middleware's default
  int queue = 0;                 // capacity of each queue in messages. 0: chosen by the peer
  double work_us = 0;            // computing time of a callback
  double stall_ms = 0;           // pause of a sink …
  double stall_every_ms = 1000;  // … once per this interval
  std::string recorded;          // a file with recorded messages to send. See Schedule
  double speed = 1;              // of recorded messages. 0: use rate_hz instead of recorded times
  std::string faults;            // Hyphos only: the section `faults:` of its plan
  /// This machine, or the machines that a link joins, the near one first.
  std::vector<Machine> machines = std::vector<Machine>(1);
  std::string relay;  // location of a gateway process: beside (the node) | own
  std::string pub_cpus, hop_cpus, sub_cpus;  // processors by role, such as 0-2,5. Empty: any
  std::string worker_python;                 // for peers in Python: the interpreter with Hyphos …
  std::string worker_file;                   // … and hyphos/lab/worker/__main__.py
  bool describe = false;

  std::string role;  // empty in the parent. Else pub | hop | sub | both
  int index = 0;     // index of the publisher, hop or subscriber
  int sheet_fd = -1;
  std::string run_dir;  // private directory in /dev/shm, removed by the parent
  int run_id = 0;       // distinguishes concurrent runs: names depend on it
  int ports = 0;        // the first port of this run

  [[nodiscard]] bool floods() const {
    return shape == Shape::kFlood || shape == Shape::kInprocFlood || uncapped();
  }
  /// The run ends by time, not by a number of messages.
  [[nodiscard]] bool uncapped() const { return shape == Shape::kUncapped; }
  [[nodiscard]] bool in_process() const {
    return shape == Shape::kInproc || shape == Shape::kInprocFlood;
  }
  /// The number of publishers with their own schedule.
  [[nodiscard]] int sources() const {
    if (shape == Shape::kFanin) return publishers;
    return shape == Shape::kEcho ? pairs : 1;
  }
  [[nodiscard]] int hops() const {
    if (shape == Shape::kEcho) return pairs;
    return shape == Shape::kPipeline ? processes - 2 : 0;
  }
  [[nodiscard]] int sinks() const {
    if (shape == Shape::kEcho) return 0;
    return shape == Shape::kFanout ? subscribers : 1;
  }
  /// The number of paths from a source to the endpoint that measures its messages.
  [[nodiscard]] int flows() const { return shape == Shape::kFanout ? subscribers : sources(); }
  [[nodiscard]] int source_of(int flow) const { return sources() == 1 ? 0 : flow; }
  /// The number of hyperedges. Echo: 2i there, 2i + 1 back.
  [[nodiscard]] int edges() const {
    if (shape == Shape::kEcho) return 2 * pairs;
    return shape == Shape::kPipeline ? processes - 1 : 1;
  }
  [[nodiscard]] bool across_machines() const { return machines.size() > 1; }
  /// The machine of a process. If a role has several processes, they are distributed over all
  /// machines but one. Along a pipeline, each process is on a different machine than the process
  /// before it, so that every hyperedge crosses the link.
  [[nodiscard]] const Machine& machine_of(std::string_view of_role, int of_index) const {
    return machines[static_cast<std::size_t>(place_of(of_role, of_index))];
  }
  [[nodiscard]] const std::string& address_of(std::string_view of_role, int of_index) const {
    return machine_of(of_role, of_index).address;
  }
  /// The address of this process.
  [[nodiscard]] const std::string& own_address() const { return address_of(role, index); }
  /// The machine of the first publisher, and the machine of the first subscriber if there are two.
  [[nodiscard]] const Machine& near() const { return machines.front(); }
  [[nodiscard]] const Machine& far() const { return machines[across_machines() ? 1 : 0]; }
  /// True if the gateway has its own machine: the last one, without other processes.
  [[nodiscard]] bool relay_is_apart() const { return relay == "own"; }
  [[nodiscard]] const Machine& relay_machine() const { return machines.back(); }
  [[nodiscard]] const std::string& cpus_of(std::string_view of_role) const {
    if (of_role == "hop") return hop_cpus;
    return of_role == "sub" ? sub_cpus : pub_cpus;
  }
  /// The time limit for the reception of all `warmup` messages.
  [[nodiscard]] double longest_warm_up_s() const {
    return 60 + 2 * static_cast<double>(warmup) * std::max(1 / rate_hz, 0.01);
  }
  [[nodiscard]] int queue_or(int own) const { return queue > 0 ? queue : own; }
  [[nodiscard]] Reliability wanted_reliability() const { return reliability_from(reliability); }
  /// A port of this run: kMaxEdges ports for edges, followed by the ports of a daemon.
  [[nodiscard]] std::uint16_t port(int index_of_edge) const {
    return static_cast<std::uint16_t>(ports + index_of_edge);
  }
  static constexpr int kMaxEdges = 2 * kMaxFlows;

 private:
  /// The index in `machines`.
  [[nodiscard]] int place_of(std::string_view of_role, int of_index) const {
    const int count = static_cast<int>(machines.size()) - (relay_is_apart() ? 1 : 0);
    if (count <= 1) return 0;
    if (shape == Shape::kPipeline) {
      const int stage = of_role == "pub" ? 0 : of_role == "hop" ? of_index + 1 : processes - 1;
      return stage % count;
    }
    const int many = count - 1;
    if (shape == Shape::kFanin) return of_role == "sub" ? many : of_index % many;
    return of_role == "pub" || of_role == "both" ? 0 : 1 + of_index % many;
  }
};

namespace detail {

struct Option {
  const char* name;
  std::function<void(Options&, const std::string&)> read;
  std::function<std::string(const Options&)> write;
};

template <typename T>
Option option(const char* name, T Options::* field) {
  return {name,
          [field](Options& o, const std::string& text) {
            if constexpr (std::is_same_v<T, std::string>) {
              o.*field = text;
            } else if constexpr (std::is_same_v<T, double>) {
              o.*field = std::stod(text);
            } else if constexpr (std::is_same_v<T, int>) {
              o.*field = std::stoi(text);
            } else {
              o.*field = static_cast<T>(std::stoll(text));
            }
          },
          [field](const Options& o) {
            if constexpr (std::is_same_v<T, std::string>) {
              return o.*field;
            } else {
              return std::to_string(o.*field);
            }
          }};
}

/// Every option once. The parent reads it from its command line and passes it to the children.
inline const std::vector<Option>& option_list() {
  static const std::vector<Option> list = {
      {"--shape", [](Options& o, const std::string& text) { o.shape = shape_from(text); },
       [](const Options& o) { return std::string(to_string(o.shape)); }},
      option("--variant", &Options::variant),
      option("--size", &Options::size),
      option("--rate", &Options::rate_hz),
      option("--count", &Options::count),
      option("--seconds", &Options::seconds),
      option("--warmup", &Options::warmup),
      option("--processes", &Options::processes),
      option("--subscribers", &Options::subscribers),
      option("--publishers", &Options::publishers),
      option("--pairs", &Options::pairs),
      option("--reliability", &Options::reliability),
      option("--queue", &Options::queue),
      option("--work-us", &Options::work_us),
      option("--stall-ms", &Options::stall_ms),
      option("--stall-every-ms", &Options::stall_every_ms),
      option("--recorded", &Options::recorded),
      option("--speed", &Options::speed),
      option("--faults", &Options::faults),
      {"--hosts", [](Options& o, const std::string& text) { o.machines = machines_from(text); },
       [](const Options& o) { return o.across_machines() ? to_text(o.machines) : ""; }},
      option("--relay", &Options::relay),
      option("--pub-cpus", &Options::pub_cpus),
      option("--hop-cpus", &Options::hop_cpus),
      option("--sub-cpus", &Options::sub_cpus),
      option("--worker-python", &Options::worker_python),
      option("--worker-file", &Options::worker_file),
      option("--role", &Options::role),
      option("--index", &Options::index),
      option("--sheet-fd", &Options::sheet_fd),
      option("--run-dir", &Options::run_dir),
      option("--run-id", &Options::run_id),
      option("--ports", &Options::ports),
  };
  return list;
}

inline void check(const Options& o) {
  const auto need = [](bool good, const char* what) {
    if (!good) throw std::invalid_argument(what);
  };
  need(o.size >= 32, "--size: at least 32 bytes, for the header");
  need(o.count >= 1 && o.warmup >= 1, "--count, --warmup: at least 1");
  need(o.count <= 100'000'000, "--count: at most 100 million");
  need(o.rate_hz > 0, "--rate: must be positive");
  need(o.seconds > 0 && o.seconds <= 86'400, "--seconds: more than 0, at most a day");
  need(o.processes >= 2 && o.processes <= kMaxFlows, "--processes: 2 to 256");
  for (const int many : {o.subscribers, o.publishers, o.pairs}) {
    need(many >= 1 && many <= kMaxFlows, "--subscribers, --publishers, --pairs: 1 to 256");
  }
  need(o.queue >= 0 && o.queue <= 65536, "--queue: 0 to 65536");
  need(o.speed >= 0, "--speed: not negative");
  need(o.relay.empty() || o.relay == "beside" || o.relay == "own", "--relay: beside or own");
  need(!o.relay_is_apart() || o.machines.size() >= 3, "--relay own: at least three --hosts");
  need(o.recorded.empty() || !o.in_process(), "--recorded: only between processes");
  for (const auto& [name, cpus] : {std::pair{"--pub-cpus", o.pub_cpus},
                                   {"--hop-cpus", o.hop_cpus},
                                   {"--sub-cpus", o.sub_cpus}}) {
    if (!cpus.empty()) static_cast<void>(Cpus::parse(name, cpus));
  }
  need(o.work_us >= 0 && o.stall_ms >= 0 && o.stall_every_ms > o.stall_ms,
       "--work-us, --stall-ms: not negative; --stall-every-ms: more than --stall-ms");
  static_cast<void>(o.wanted_reliability());
}

}  // namespace detail

/// Throws std::invalid_argument. Its text names the option.
inline Options parse_options(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i];
    if (key == "--describe") {
      o.describe = true;
      continue;
    }
    const detail::Option* known = nullptr;
    for (const auto& option : detail::option_list()) {
      if (key == option.name) known = &option;
    }
    if (known == nullptr) throw std::invalid_argument("unknown option " + key);
    if (i + 1 >= argc) throw std::invalid_argument(key + " needs a value");
    try {
      known->read(o, argv[++i]);
    } catch (const std::logic_error& error) {  // from a conversion, or with our own text
      const std::string what = error.what();
      throw std::invalid_argument(
          what.starts_with("sto") ? key + ": '" + argv[i] + "' is not a number" : what);
    }
  }
  detail::check(o);
  return o;
}

/// The command line of a child. Parsing it returns `o` with the role.
inline std::vector<std::string> child_arguments(Options o, const std::string& role, int index) {
  o.role = role;
  o.index = index;
  std::vector<std::string> words;
  for (const auto& option : detail::option_list()) {
    std::string value = option.write(o);
    if (value.empty()) continue;
    words.emplace_back(option.name);
    words.push_back(std::move(value));
  }
  return words;
}

}  // namespace hyphos::lab
