#include "netem/options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

namespace hyphos::lab {

const char* const kUsage =
    R"(usage: hyphos-link --host NAMESPACE=ADDRESS/PREFIX --host ... [options]
Connects one TUN device in each network namespace to one network. Prints `ready` when packets flow.
Prints its counters as one line of JSON on SIGUSR1 and at its end. Ends on SIGINT, on SIGTERM, or
with its parent process.

  --medium cable|wifi     full-duplex cable (two hosts) or switch, or one shared channel (cable)
  --seed N                seed of all random numbers (1)
  --loss P                share of packets lost, or with wifi of transmitted frames
  --loss-burst PACKETS    mean length of loss bursts in packets (Gilbert-Elliott)
  --loss-in-burst P       probability of loss in a burst (1)
  --loss-between P        probability of loss between bursts (0)
  --queue-packets N       capacity of each queue in packets (1000)
  --queue-bytes N         additional capacity limit in bytes
  --mtu BYTES             (1500)
  --device NAME           name of the device in each namespace (lab0)
  --spin-us US            busy-wait before each event, for accuracy (60)
  --realtime-priority N   priority of SCHED_FIFO, 0: none (1)
cable:
  --rate-mbit R           in IP bytes (unlimited)
  --delay-ms MS           one way (0)
  --jitter-ms MS          uniform within delay ± jitter, in order (0)
wifi (IEEE 802.11-2020, clauses 10.3 and 17):
  --rate-mbit R           of data frames: 6, 9, 12, 18, 24, 36, 48, 54 (54)
  --multicast-rate-mbit R of frames to everyone (6)
  --cw-min N, --cw-max N  contention window (15, 1023)
  --retry-limit N         largest number of transmissions of a frame (7)
  --slot-us N, --sifs-us N (9, 16)
)";

namespace {

using Given = std::set<std::string_view>;

struct Number {
  std::string_view name;
  double least;
  double most;
  bool whole;
  void (*set)(Options&, double);
};

template <typename T>
T as(double value) {
  return static_cast<T>(value);
}
Duration milliseconds(double value) { return {std::llround(value * 1e6)}; }
Duration microseconds(double value) { return {std::llround(value * 1e3)}; }

constexpr double kHour = 3.6e6;  // ms

// Loss, queue and seed apply to both media. They are copied to the other medium at the end.
const std::array kNumbers{
    Number{"--seed", 0, 1e15, true,
           [](Options& o, double v) { o.wired.seed = as<std::uint64_t>(v); }},
    Number{"--loss", 0, 1, false, [](Options& o, double v) { o.wired.loss.probability = v; }},
    Number{"--loss-burst", 1, 1e9, false,
           [](Options& o, double v) { o.wired.loss.burst_packets = v; }},
    Number{"--loss-in-burst", 0, 1, false, [](Options& o, double v) { o.wired.loss.in_burst = v; }},
    Number{"--loss-between", 0, 1, false, [](Options& o, double v) { o.wired.loss.between = v; }},
    Number{"--queue-packets", 1, 1e5, true,
           [](Options& o, double v) { o.wired.queue.packets = as<std::uint32_t>(v); }},
    Number{"--queue-bytes", 1, 1e9, true,
           [](Options& o, double v) { o.wired.queue.bytes = as<std::uint64_t>(v); }},
    Number{"--mtu", 68, 9000, true, [](Options& o, double v) { o.mtu = as<unsigned>(v); }},
    Number{"--spin-us", 0, 1e6, false, [](Options& o, double v) { o.spin = microseconds(v); }},
    Number{"--realtime-priority", 0, 99, true,
           [](Options& o, double v) { o.realtime_priority = as<int>(v); }},
    Number{"--rate-mbit", 1e-3, 1e5, false,
           [](Options& o, double v) { o.wired.rate_mbit = o.air.rate_mbit = v; }},
    Number{"--delay-ms", 0, kHour, false,
           [](Options& o, double v) { o.wired.delay = milliseconds(v); }},
    Number{"--jitter-ms", 0, kHour, false,
           [](Options& o, double v) { o.wired.jitter = milliseconds(v); }},
    Number{"--multicast-rate-mbit", 1, 54, false,
           [](Options& o, double v) { o.air.multicast_rate_mbit = v; }},
    Number{"--cw-min", 1, 32767, true,
           [](Options& o, double v) { o.air.window_min = as<std::int64_t>(v); }},
    Number{"--cw-max", 1, 32767, true,
           [](Options& o, double v) { o.air.window_max = as<std::int64_t>(v); }},
    Number{"--retry-limit", 1, 255, true,
           [](Options& o, double v) { o.air.retry_limit = as<std::uint32_t>(v); }},
    Number{"--slot-us", 1, 1000, true, [](Options& o, double v) { o.air.slot = microseconds(v); }},
    Number{"--sifs-us", 1, 1000, true, [](Options& o, double v) { o.air.sifs = microseconds(v); }},
};

constexpr std::array<std::string_view, 2> kOnlyCable{"--delay-ms", "--jitter-ms"};
constexpr std::array<std::string_view, 6> kOnlyWifi{
    "--multicast-rate-mbit", "--cw-min", "--cw-max", "--retry-limit", "--slot-us", "--sifs-us"};
constexpr std::array<double, 8> kPhyRates{6, 9, 12, 18, 24, 36, 48, 54};

Error wrong(std::string_view where, std::string message) {
  return {Code::invalid_config, std::move(message), std::string(where)};
}

std::string shown(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

Result<void> set_number(Options& options, const Number& key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc{} && end == text.data() + text.size();
  const bool within = value >= key.least && value <= key.most;  // false for NaN
  const bool fraction = key.whole && std::trunc(value) != value;
  if (!number || !within || fraction) {
    return wrong(key.name, "'" + std::string(text) + "' is not a " +
                               (key.whole ? "whole number" : "number") + " from " +
                               shown(key.least) + " to " + shown(key.most));
  }
  key.set(options, value);
  return success();
}

Result<void> set(Options& options, std::string_view name, std::string_view text) {
  if (name == "--host") {
    auto host = parse_host(text);
    if (!host) return host.error();
    options.hosts.push_back(std::move(host).value());
    return success();
  }
  if (name == "--medium") {
    if (text != "cable" && text != "wifi") return wrong(name, "must be `cable` or `wifi`");
    options.wifi = text == "wifi";
    return success();
  }
  if (name == "--device") {
    if (text.empty() || text.size() > 15) return wrong(name, "must have 1 to 15 letters");
    options.device = text;
    return success();
  }
  const auto* const key = std::find_if(kNumbers.begin(), kNumbers.end(),
                                       [&](const Number& each) { return each.name == name; });
  if (key == kNumbers.end()) return wrong(name, "unknown option; see --help");
  return set_number(options, *key, text);
}

Result<void> check_loss(const LossOptions& loss, const Given& given) {
  if (loss.burst_packets == 0) {
    for (const std::string_view name : {"--loss-in-burst", "--loss-between"}) {
      if (given.contains(name)) return wrong(name, "is only valid with --loss-burst");
    }
    return success();
  }
  if (loss.between >= loss.in_burst || loss.probability < loss.between ||
      loss.probability > loss.in_burst) {
    return wrong("--loss", "must be between --loss-between and --loss-in-burst");
  }
  if (loss.share_bad() < 1 && loss.turns_bad() > 1) {
    return wrong("--loss-burst", "bursts of this length cannot cause this loss: make them longer");
  }
  return success();
}

Result<void> check_medium(const Options& options, const Given& given) {
  if (!options.wifi) {
    for (const std::string_view name : kOnlyWifi) {
      if (given.contains(name)) return wrong(name, "is only valid with --medium wifi");
    }
    if (options.wired.jitter > options.wired.delay) {
      return wrong("--jitter-ms",
                   "must be at most --delay-ms: no packet arrives before it is sent");
    }
    return success();
  }
  for (const std::string_view name : kOnlyCable) {
    if (given.contains(name)) return wrong(name, "is only valid with --medium cable");
  }
  for (const double rate : {options.air.rate_mbit, options.air.multicast_rate_mbit}) {
    if (std::find(kPhyRates.begin(), kPhyRates.end(), rate) == kPhyRates.end()) {
      return wrong("--rate-mbit", "must be one of 6, 9, 12, 18, 24, 36, 48, 54 with --medium wifi");
    }
  }
  if (options.air.window_max < options.air.window_min) {
    return wrong("--cw-max", "must be at least --cw-min");
  }
  return success();
}

Result<void> check_hosts(const std::vector<Host>& hosts) {
  constexpr std::size_t kMost = 64;  // the models keep one state per pair
  if (hosts.size() < 2 || hosts.size() > kMost) {
    return wrong("--host", "must be given 2 to " + std::to_string(kMost) + " times");
  }
  std::set<std::string_view> names;
  std::set<std::uint32_t> addresses;
  for (const Host& host : hosts) {
    if (!names.insert(host.name_space).second || !addresses.insert(host.ip).second) {
      return wrong("--host " + host.name_space, "a namespace or address appears twice");
    }
  }
  return success();
}

}  // namespace

Result<Options> parse_options(std::span<const char* const> words) {
  Options options;
  Given given;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const std::string_view name = words[i];
    if (i + 1 == words.size()) return wrong(name, "needs a value");
    if (name != "--host" && !given.insert(name).second) return wrong(name, "is given twice");
    if (auto done = set(options, name, words[i + 1]); !done) return done.error();
  }
  options.air.loss = options.wired.loss;
  options.air.queue = options.wired.queue;
  options.air.seed = options.wired.seed;
  if (auto checked = check_hosts(options.hosts); !checked) return checked.error();
  if (auto checked = check_loss(options.wired.loss, given); !checked) return checked.error();
  if (auto checked = check_medium(options, given); !checked) return checked.error();
  return options;
}

}  // namespace hyphos::lab
