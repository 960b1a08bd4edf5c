#include "view/panels/graph_load.hpp"

#include <algorithm>
#include <cmath>

#include "view/panels/widgets.hpp"

namespace hyphos::view {
namespace {

constexpr double kSurplus = 1.25;  // of a measured over a predicted rate

std::string factor_text(double factor) {
  return std::isfinite(factor) ? "× " + number_text(std::round(factor * 100) / 100) : "any factor";
}

std::string flow_text(double rate_hz, double bytes_per_s) {
  return rate_text(rate_hz) + " Hz, " + bytes_text(bytes_per_s) + "/s";
}

}  // namespace

Prediction::Verdict verdict_of(const Prediction& prediction, double share) {
  // The factor from the saturation point to the ends of its band.
  const bool known = std::isfinite(prediction.knee) && prediction.knee_low > 0;
  const double band = known ? std::max(prediction.knee / prediction.knee_low, 1.) : 1;
  if (share * band <= 1) return Prediction::Verdict::fits;
  return share > band ? Prediction::Verdict::does_not_fit : Prediction::Verdict::marginal;
}

std::uint32_t verdict_color(const Theme& theme, Prediction::Verdict verdict) {
  switch (verdict) {
    case Prediction::Verdict::fits:
      return theme.good;
    case Prediction::Verdict::marginal:
      return theme.warn;
    case Prediction::Verdict::does_not_fit:
      break;
  }
  return theme.bad;
}

std::string share_text(double share) {
  if (share > 0 && share < 0.01) return "< 1 %";
  return number_text(std::round(share * 100)) + " %";
}

std::string verdict_text(const Prediction& prediction) {
  std::string text = "plan check: " + std::string(to_string(prediction.verdict));
  if (!std::isfinite(prediction.knee)) return text + " at " + factor_text(prediction.knee);
  text += ", up to " + factor_text(prediction.knee) + " of all rates (" +
          factor_text(prediction.knee_low) + " to " + factor_text(prediction.knee_high) + ")";
  if (!prediction.first_to_break.empty()) {
    text += ". First to break: " + prediction.first_to_break;
  }
  return text;
}

std::string node_load(const Prediction& prediction, const GraphSnapshot& now, std::uint32_t node) {
  const GraphNode& one = now.nodes[node];
  std::string text;
  if (const auto share = prediction.process(one.process)) {
    text += "\npredicted: process " + one.process + " " + share_text(*share) + " of its limit";
  }
  double predicted = 0;
  double measured = 0;
  bool known = false;
  for (const GraphEdge& edge : now.edges) {
    if (edge.node != node || edge.publishes) continue;
    measured += edge.busy;
    const auto share = prediction.callback({one.node, now.channels[edge.channel].name});
    known = known || share.has_value();
    predicted += share.value_or(0);
  }
  if (known) {
    text += "\ncallbacks: predicted " + share_text(predicted) + ", measured " +
            share_text(measured) + " of a core";
  }
  return text;
}

std::string channel_load(const Prediction& prediction, const ChannelRow& row) {
  const Prediction::Flow* const flow = prediction.channel(row.name);
  if (flow == nullptr) return "";
  return "\npredicted " + flow_text(flow->rate_hz, flow->bytes_per_s) +
         (above_prediction(prediction, row) ? ". The robot publishes more" : "");
}

std::string edge_load(const Prediction& prediction, const GraphSnapshot& now,
                      const GraphEdge& edge) {
  if (edge.publishes) return channel_load(prediction, now.channels[edge.channel]);
  const Prediction::Subscription end{now.nodes[edge.node].node, now.channels[edge.channel].name};
  std::string text;
  if (const auto share = prediction.callback(end)) {
    text += "\ncallback: predicted " + share_text(*share) + ", measured " + share_text(edge.busy) +
            " of a core";
  }
  if (const auto share = prediction.queue(end)) {
    text += "\nqueue: predicted " + share_text(*share) + " of its limit";
  }
  return text;
}

bool above_prediction(const Prediction& prediction, const ChannelRow& row) {
  const Prediction::Flow* const flow = prediction.channel(row.name);
  return flow != nullptr && row.rate_hz > kSurplus * flow->rate_hz + 1;
}

}  // namespace hyphos::view
