#include "lab/graph/report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "base/percentile.hpp"
#include "lab/common/interface.hpp"
#include "lab/common/stats.hpp"

namespace hyphos::lab::graph {
namespace {

/// The number of samples in each bucket, by the lowest value of the bucket.
using Histogram = std::map<std::int64_t, std::uint64_t>;

std::string list(const std::vector<End>& ends,
                 const std::function<void(JsonLine&, std::size_t)>& fill) {
  std::string text;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    JsonLine line;
    line.add("channel", ends[i].channel->name).add("node", ends[i].node);
    fill(line, i);
    text += (i == 0 ? "" : ", ") + line.str();
  }
  return "[" + text + "]";
}

std::string sources(const Outcome& out) {
  return list(out.ends.sources, [&](JsonLine& line, std::size_t i) {
    const Sheet::Source& row = out.sheet.source(i);
    line.add("planned", static_cast<double>(row.planned.load()));
    line.add("sent", static_cast<double>(row.sent.load()));
    line.add("refused", static_cast<double>(row.refused.load()));
    line.add("worst_late_ms", static_cast<double>(row.worst_late_ns.load()) / 1e6);
  });
}

std::string flows(const Outcome& out) {
  return list(out.ends.flows, [&](JsonLine& line, std::size_t i) {
    const Sheet::Flow& row = out.sheet.flow(i);
    line.add("expected",
             static_cast<double>(expected(out.ends, out.sheet, *out.ends.flows[i].channel)));
    line.add("received", static_cast<double>(row.received.load()));
    for (const auto& [name, percent] :
         {std::pair{"p1", 1.0}, {"p50", 50.0}, {"p95", 95.0}, {"p99", 99.0}}) {
      const std::string unit = std::string(name) + "_us";
      line.add(("transit_" + unit).c_str(), row.transit.percentile_us(percent));
    }
    double least = std::nan("");
    std::array<double, kLateParts> medians{};
    for (std::size_t part = 0; part < kLateParts; ++part) {
      medians[part] = row.late[part].percentile_us(50);
      least = std::fmin(least, row.late[part].percentile_us(1));  // ignores parts without messages
    }
    line.raw("late_parts_us", list_of(medians)).add("least_late_us", least);
  });
}

void merge(Histogram& into, const FineDurations& from) {
  from.for_each([&](std::int64_t value, std::uint64_t count) { into[value] += count; });
}

std::uint64_t count_of(const Histogram& histogram) {
  std::uint64_t count = 0;
  for (const auto& [value, some] : histogram) count += some;
  return count;
}

/// The percentile by the nearest-rank rule, in microseconds. NaN without samples.
double percentile_us(const Histogram& histogram, double percent) {
  const std::uint64_t total = count_of(histogram);
  if (total == 0) return std::nan("");
  return static_cast<double>(histogram_percentile(histogram, total, percent / 100)) / 1e3;
}

void add_percentiles(JsonLine& line, const std::string& prefix, const Histogram& histogram) {
  for (const auto& [name, percent] :
       {std::pair{"p50_us", 50.0}, {"p95_us", 95.0}, {"p99_us", 99.0}, {"max_us", 100.0}}) {
    line.add((prefix + name).c_str(), percentile_us(histogram, percent));
  }
}

std::string buckets(const Histogram& histogram) {
  std::string text = "[";
  for (const auto& [value, count] : histogram) {
    text +=
        (text.size() == 1 ? "[" : ",[") + std::to_string(value) + "," + std::to_string(count) + "]";
  }
  return text + "]";
}

/// The sums over all sources or all flows.
struct Sums {
  std::int64_t planned = 0, sent = 0, late_sends = 0;
  std::int64_t expected = 0, received = 0, duplicates = 0, corrupt = 0, last_ns = 0;
  double bytes = 0;
};

Sums sum_up(const Outcome& out) {
  Sums sums;
  for (std::size_t i = 0; i < out.ends.sources.size(); ++i) {
    const Sheet::Source& row = out.sheet.source(i);
    const std::int64_t sent = row.sent.load();
    // A reply is planned when its request has arrived.
    const bool answers = !out.ends.sources[i].channel->load->after.empty();
    sums.planned += answers ? sent + row.refused.load() : row.planned.load();
    sums.sent += sent;
    sums.late_sends += row.late.load();
  }
  for (std::size_t i = 0; i < out.ends.flows.size(); ++i) {
    const Sheet::Flow& row = out.sheet.flow(i);
    const ChannelPlan& channel = *out.ends.flows[i].channel;
    sums.expected += expected(out.ends, out.sheet, channel);
    sums.received += row.received.load() - row.duplicates.load();
    sums.duplicates += row.duplicates.load();
    sums.corrupt += row.corrupt.load();
    sums.last_ns = std::max(sums.last_ns, row.last_receive_ns.load());
    sums.bytes +=
        static_cast<double>(row.received.load()) * static_cast<double>(channel.load->size_bytes);
  }
  return sums;
}

/// The median duration of the publish calls, in microseconds.
double publish_cost(const Outcome& out) {
  std::map<double, std::uint64_t> counts;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < out.ends.sources.size(); ++i) {
    out.sheet.source(i).cost.for_each([&](std::int64_t value, std::uint64_t count) {
      counts[static_cast<double>(value)] += count;
      total += count;
    });
  }
  std::uint64_t seen = 0;
  for (const auto& [value, count] : counts) {
    seen += count;
    if (2 * seen >= total) return value / 1e3;
  }
  return std::nan("");
}

double cpu_s(const Outcome& out) {
  double sum = 0;
  for (const Child& child : out.children) sum += static_cast<double>(child.cpu_ns) / 1e9;
  return sum;
}

}  // namespace

std::int64_t expected(const Ends& ends, const Sheet& sheet, const ChannelPlan& channel) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < ends.sources.size(); ++i) {
    if (ends.sources[i].channel == &channel) sum += sheet.source(i).sent.load();
  }
  return sum;
}

std::string report_load(const Outcome& out) {
  JsonLine line;
  line.add("processes", static_cast<double>(out.children.size())).add("scale", out.options.scale);
  line.add("seconds", out.seconds).add("cores_used", cpu_s(out) / out.seconds);
  line.raw("sources", sources(out)).raw("flows", flows(out));
  return line.str();
}

std::string report_figures(const Outcome& out) {
  const Sums sums = sum_up(out);
  Histogram latency, open;
  std::string p95, received;
  for (std::size_t i = 0; i < out.ends.flows.size(); ++i) {
    if (out.ends.last[i] == Ends::kNone) continue;
    const Sheet::Chain& chain = out.sheet.chain(out.ends.last[i]);
    Histogram own;
    merge(own, chain.latency);
    merge(latency, chain.latency);
    merge(open, chain.open);
    p95 += (p95.empty() ? "" : ", ") + number(percentile_us(own, 95));
    received += (received.empty() ? "" : ", ") + std::to_string(count_of(own));
  }
  const double seconds = static_cast<double>(sums.last_ns - out.begin_ns) / 1e9;
  JsonLine line;
  line.add("peer", "hyphos").add("variant", "plan").add("shape", "graph");
  line.add("scale", out.options.scale);
  line.add("processes", static_cast<double>(out.children.size()));
  line.add("sources", static_cast<double>(out.ends.sources.size()));
  line.add("flows", static_cast<double>(out.ends.flows.size()));
  line.add("chains", static_cast<double>(out.ends.chains));
  line.add("planned", static_cast<double>(sums.planned));
  line.add("sent", static_cast<double>(sums.sent));
  line.add("received", static_cast<double>(sums.received));
  line.add("lost", static_cast<double>(sums.expected - sums.received));
  line.add("duplicates", static_cast<double>(sums.duplicates));
  line.add("corrupt", static_cast<double>(sums.corrupt));
  line.add("late_sends", static_cast<double>(sums.late_sends));
  line.add("samples", static_cast<double>(count_of(latency)));
  add_percentiles(line, "", latency);
  add_percentiles(line, "open_", open);
  line.add("pub_cost_p50_us", publish_cost(out));
  line.add("cpu_us_per_msg",
           cpu_s(out) * 1e6 / static_cast<double>(std::max<std::int64_t>(sums.sent, 1)));
  line.add("memory_mb", static_cast<double>(out.memory_kb) / 1024);
  line.add("seconds", seconds);
  line.add("messages_per_s", static_cast<double>(sums.received) / seconds);
  line.add("mb_per_s", sums.bytes / 1e6 / seconds);
  line.raw("cpus", out.cpus);
  line.raw("flow_p95_us", "[" + p95 + "]").raw("flow_received", "[" + received + "]");
  line.raw("channels_sent", sources(out)).raw("channels_heard", flows(out));
  line.raw("histogram_ns", buckets(latency)).raw("open_histogram_ns", buckets(open));
  return line.str();
}

std::string describe() {
  JsonLine variant;
  variant.add("name", "plan").raw("shapes", R"(["graph"])");
  variant.add("max_size", static_cast<double>(1u << 30)).raw("floor", "false");
  variant.raw("network", "true").raw("sizes", "true").raw("hosts", "true");
  return JsonLine()
      .add("peer", "hyphos")
      .add("interface", kInterface)
      .add("version", HYPHOS_LAB_VERSION)
      .raw("variants", "[" + variant.str() + "]")
      .str();
}

}  // namespace hyphos::lab::graph
