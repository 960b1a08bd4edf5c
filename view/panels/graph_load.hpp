#pragma once

#include <cstdint>
#include <string>

#include "view/core/graph_state.hpp"
#include "view/core/prediction.hpp"
#include "view/panels/theme.hpp"

/// The predicted load of a plan beside the measured load, as texts and colours of the graph.
namespace hyphos::view {

/// The verdict on one resource by itself: above 1 the robot is not carried, and the band of the
/// prediction is that of the whole robot.
[[nodiscard]] Prediction::Verdict verdict_of(const Prediction& prediction, double share);
[[nodiscard]] std::uint32_t verdict_color(const Theme& theme, Prediction::Verdict verdict);

/// "31 %", "< 1 %".
[[nodiscard]] std::string share_text(double share);

/// "plan check: fits, up to × 2.1 of all rates (× 1.7 to × 2.6). First to break: process brain"
[[nodiscard]] std::string verdict_text(const Prediction& prediction);
/// Lines for a tooltip, each with a leading line break. Empty if the plan has no load for it.
[[nodiscard]] std::string node_load(const Prediction& prediction, const GraphSnapshot& now,
                                    std::uint32_t node);
[[nodiscard]] std::string channel_load(const Prediction& prediction, const ChannelRow& row);
[[nodiscard]] std::string edge_load(const Prediction& prediction, const GraphSnapshot& now,
                                    const GraphEdge& edge);
/// True if a channel carries more than a quarter above its predicted rate, so the prediction does
/// not hold for this run.
[[nodiscard]] bool above_prediction(const Prediction& prediction, const ChannelRow& row);

}  // namespace hyphos::view
