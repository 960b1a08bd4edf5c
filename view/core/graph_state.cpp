#include "view/core/graph_state.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "hyphos/time.hpp"
#include "view/core/names.hpp"
#include "view/core/plan_graph.hpp"

namespace hyphos::view {
namespace {

constexpr std::string_view kDrop = "drop.";

std::uint64_t growth(const EndpointInfo& now, const EndpointInfo* before, std::string_view name) {
  const std::uint64_t old = before == nullptr ? 0 : before->counter(name);
  const std::uint64_t value = now.counter(name);
  return value > old ? value - old : 0;
}

LatencyRow row_of(std::string layer, const HistogramSnapshot& now,
                  const HistogramSnapshot* before) {
  HistogramSnapshot recent;
  if (before != nullptr) recent = now.since(*before);
  const HistogramSnapshot& used = recent.count != 0 ? recent : now;
  return {std::move(layer),         used.count, used.percentile_ns(0.5), used.percentile_ns(0.95),
          used.percentile_ns(0.99), used.max_ns};
}

const HistogramSnapshot* layer_of(const EndpointInfo* end, std::string_view layer) {
  if (end == nullptr) return nullptr;
  for (const auto& [name, histogram] : end->layers) {
    if (name == layer) return &histogram;
  }
  return nullptr;
}

class Snapshot {
 public:
  Snapshot(const EndpointsBefore& before, double seconds, std::int64_t monotonic_ns)
      : before_(before), seconds_(seconds), now_ns_(monotonic_ns) {}

  void add(const ProcessInfo& process) {
    for (const EndpointInfo& end : process.endpoints) {
      if (!is_shown(end.channel)) continue;
      const auto found = before_.find({process.participant, end.id});
      add(process, end, found == before_.end() ? nullptr : &found->second);
    }
  }

  GraphSnapshot take() {
    for (ChannelRow& row : out_.channels) {
      for (const DropCount& drop : row.drops) row.dropped += drop.count;
      std::stable_sort(row.drops.begin(), row.drops.end(), [](const auto& a, const auto& b) {
        return std::tie(b.per_s, b.count) < std::tie(a.per_s, a.count);
      });
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] double per_s(std::uint64_t count) const {
    return seconds_ > 0 ? static_cast<double>(count) / seconds_ : 0;
  }

  /// The share of one core that a callback used since the previous sample.
  [[nodiscard]] double busy(const HistogramSnapshot* now, const HistogramSnapshot* before) const {
    if (now == nullptr || before == nullptr || seconds_ <= 0) return 0;
    const HistogramSnapshot recent = now->since(*before);
    return static_cast<double>(recent.count) * recent.mean_ns * 1e-9 / seconds_;
  }

  std::uint32_t channel(const EndpointInfo& end) {
    const auto [found, fresh] =
        channels_.try_emplace(end.channel, static_cast<std::uint32_t>(out_.channels.size()));
    if (fresh) {
      out_.channels.emplace_back().name = end.channel;
      slowest_.push_back(-1);
    }
    return found->second;
  }

  std::uint32_t node(const ProcessInfo& process, const EndpointInfo& end) {
    const auto [found, fresh] = nodes_.try_emplace(std::pair(process.participant, end.node),
                                                   static_cast<std::uint32_t>(out_.nodes.size()));
    if (fresh) {
      out_.nodes.push_back({end.node, process.name, process.host, process.pid, process.state,
                            process.pid == ::getpid()});
    }
    return found->second;
  }

  void add(const ProcessInfo& process, const EndpointInfo& end, const EndpointInfo* before) {
    const std::uint32_t index = channel(end);
    ChannelRow& row = out_.channels[index];
    if (row.type.empty()) row.type = end.type_name;
    GraphEdge edge;
    edge.node = node(process, end);
    edge.channel = index;
    edge.publishes = end.is_publisher;
    edge.depth = end.policy.depth;
    edge.transports = end.transports;
    edge.rate_hz = per_s(growth(end, before, end.is_publisher ? "sent" : "received"));
    edge.bytes_per_s = per_s(growth(end, before, "bytes"));
    row.bytes_per_s = std::max(row.bytes_per_s, edge.bytes_per_s);
    if (end.is_publisher) {
      ++row.publishers;
      row.sent += end.counter("sent");
      if (row.publishers == 1) row.rate_hz = 0;
      row.rate_hz += edge.rate_hz;
    } else {
      ++row.subscribers;
      row.received += end.counter("received");
      // The publishers may be on another machine.
      if (row.publishers == 0) row.rate_hz = std::max(row.rate_hz, edge.rate_hz);
      edge.total = row_of("total", end.latency, before == nullptr ? nullptr : &before->latency);
      if (const auto* queue = layer_of(&end, "queue")) {
        edge.queue = row_of("queue", *queue, layer_of(before, "queue"));
      }
      edge.busy = busy(layer_of(&end, "callback"), layer_of(before, "callback"));
      keep_slowest(index, end, before, edge.total);
    }
    row.deadline_missed += end.counter("deadline_missed");
    row.callback_errors += end.counter("callback_error");
    if (end.last_ns > 0) {
      const std::int64_t age = std::max<std::int64_t>(now_ns_ - end.last_ns, 0);
      row.age_ns = row.age_ns < 0 ? age : std::min(row.age_ns, age);
    }
    for (const auto& [name, count] : end.counters) {
      if (!name.starts_with(kDrop)) continue;
      const std::string_view rest = std::string_view(name).substr(kDrop.size());
      const std::size_t dot = rest.find('.');
      DropCount drop;
      drop.place = rest.substr(0, dot);
      drop.why = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
      drop.count = count;
      drop.per_s = per_s(growth(end, before, name));
      drop.at = end.node + (end.is_publisher ? " publishes in " : " subscribes in ") + process.name;
      edge.dropped += count;
      edge.drops_per_s += drop.per_s;
      row.drops.push_back(std::move(drop));
    }
    out_.edges.push_back(std::move(edge));
  }

  void keep_slowest(std::uint32_t index, const EndpointInfo& end, const EndpointInfo* before,
                    const LatencyRow& total) {
    if (total.count == 0 || total.p95_ns <= slowest_[index]) return;
    slowest_[index] = total.p95_ns;
    auto& latency = out_.channels[index].latency;
    latency.assign(1, total);
    for (const auto& [name, histogram] : end.layers) {
      latency.push_back(row_of(name, histogram, layer_of(before, name)));
    }
  }

  const EndpointsBefore& before_;
  double seconds_;
  std::int64_t now_ns_;
  GraphSnapshot out_;
  std::map<std::string, std::uint32_t> channels_;
  std::map<std::pair<std::uint64_t, std::string>, std::uint32_t> nodes_;
  std::vector<std::int64_t> slowest_;  // p95 of ChannelRow::latency
};

std::uint64_t number(const google::protobuf::Struct& values, const char* key) {
  const auto found = values.fields().find(key);
  if (found == values.fields().end() || !found->second.has_number_value()) return 0;
  const double value = found->second.number_value();
  return value > 0 && value < 9e15 ? static_cast<std::uint64_t>(value) : 0;
}

}  // namespace

GraphSnapshot make_snapshot(const std::vector<ProcessInfo>& processes,
                            const EndpointsBefore& before, double seconds,
                            std::int64_t monotonic_ns) {
  Snapshot snapshot(before, seconds, monotonic_ns);
  for (const ProcessInfo& process : processes) snapshot.add(process);
  GraphSnapshot out = snapshot.take();
  out.time_ns = wall_now().ns;
  return out;
}

namespace {

/// Adds the channels of the parts that are recordings.
void add_recorded(const Source& recording, GraphSnapshot& out) {
  const std::vector<Part> parts = recording.parts();
  const Metadata& metadata = recording.metadata();
  const auto counters = metadata.find("hyphos.recording");
  for (const Channel& channel : recording.channels()) {
    const Part& part = parts[channel.part];
    if (part.live) continue;
    const double seconds = static_cast<double>(part.range.end_ns - part.range.begin_ns) * 1e-9;
    const auto per_s = [seconds](std::uint64_t count) {
      return seconds > 0 ? static_cast<double>(count) / seconds : 0;
    };
    ChannelRow& row = out.channels.emplace_back();
    row.name = channel.name;
    row.type = channel.type;
    row.received = channel.messages;
    row.rate_hz = per_s(channel.messages);
    if (counters == metadata.end() || !counters->second.contains(channel.name)) continue;
    google::protobuf::Struct values;
    const std::string& text = counters->second.at(channel.name);
    if (!google::protobuf::util::JsonStringToMessage(text, &values).ok()) continue;
    row.received = number(values, "received");
    row.bytes_per_s = per_s(number(values, "bytes"));
    row.sent = row.received + number(values, "missing");
    for (const auto& [key, place, why] :
         {std::tuple("missing", "network", "before the recorder"),
          std::tuple("drop_queue", "recorder", "queue full"),
          std::tuple("drop_disk", "recorder", "disk full or failed"),
          std::tuple("drop_convert", "recorder", "no form in the schema")}) {
      const std::uint64_t count = number(values, key);
      if (count != 0) row.drops.push_back({place, why, count, per_s(count), {}});
      row.dropped += count;
    }
  }
}

}  // namespace

GraphSnapshot make_snapshot(const Source& recording) {
  GraphSnapshot out;
  add_recorded(recording, out);
  if (const auto plan = recording.attachment("plan.json")) add_plan(out, *plan);
  return out;
}

GraphState::GraphState(const Source& source) : source_(source) {}

void GraphState::hold(GraphSnapshot snapshot) {
  held_ = complete_ = true;
  problem_.clear();
  snapshot_ = std::move(snapshot);
}

bool GraphState::sample() {
  if (held_) return false;
  const std::int64_t now = monotonic_now().ns;
  if (sampled_ns_ != 0 && now - sampled_ns_ < kPeriodNs) return false;
  const double seconds = sampled_ns_ == 0 ? 0 : static_cast<double>(now - sampled_ns_) * 1e-9;
  sampled_ns_ = now;
  problem_.clear();
  if (source_.domain().empty()) {
    complete_ = true;
    snapshot_ = make_snapshot(source_);
    if (!source_.metadata().contains("hyphos.recording")) {
      problem_ = "the recording has no counters: it was cut, or another program wrote it";
    }
    return true;
  }
  auto processes = inspect(source_.domain());
  if (!processes) {
    problem_ = processes.error().to_string();
    return true;
  }
  if (processes->empty()) problem_ = "no process runs in domain '" + source_.domain() + "'";
  complete_ = complete_ || !before_.empty();
  snapshot_ = make_snapshot(*processes, before_, before_.empty() ? 0 : seconds, now);
  add_recorded(source_, snapshot_);
  before_.clear();
  for (ProcessInfo& process : *processes) {
    for (EndpointInfo& end : process.endpoints) {
      const auto key = std::pair(process.participant, end.id);
      if (is_shown(end.channel)) before_.emplace(key, std::move(end));
    }
  }
  return true;
}

}  // namespace hyphos::view
