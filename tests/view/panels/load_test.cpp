#include <gtest/gtest.h>

#include <cmath>

#include "view/panels/graph_load.hpp"

namespace hyphos::view {
namespace {

constexpr const char* kAnswer = R"({
  "plan": "robot.yaml", "verdict": "marginal", "knee": 1.2, "knee_low": 0.9, "knee_high": 1.6,
  "first_to_break": "callback of mapper on scan", "utilisation": {"CPU of here": 0.4},
  "channels": {"scan": {"rate_hz": 20, "bytes_per_s": 30000}},
  "parts": [
    {"kind": "process", "process": "brain", "share": 0.31},
    {"kind": "callback", "node": "mapper", "channel": "scan", "share": 0.8},
    {"kind": "queue", "node": "mapper", "channel": "scan", "share": 0.004},
    {"kind": "of a later version", "share": 1}
  ]})";

GraphSnapshot robot() {
  GraphSnapshot made;
  made.nodes = {{"mapper", "brain", "here", 7, ProcessState::ready, false},
                {"world", "body", "here", 8, ProcessState::ready, false}};
  made.channels.resize(2);
  made.channels[0].name = "scan";
  made.channels[0].rate_hz = 20;
  made.channels[1].name = "other";
  GraphEdge in;
  in.busy = 0.123;
  GraphEdge out;
  out.node = 1;
  out.publishes = true;
  made.edges = {in, out};
  return made;
}

TEST(Prediction, IsReadFromTheAnswerOfPlanCheck) {
  const auto found = parse_prediction(kAnswer);
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_EQ(found->verdict, Prediction::Verdict::marginal);
  EXPECT_EQ(found->knee, 1.2);
  EXPECT_EQ(found->process("brain"), 0.31);
  EXPECT_EQ(found->process("body"), std::nullopt);
  EXPECT_EQ(found->callback({"mapper", "scan"}), 0.8);
  EXPECT_EQ(found->queue({"mapper", "scan"}), 0.004);
  EXPECT_EQ(found->node("mapper", "brain"), 0.8) << "the largest share";
  EXPECT_EQ(found->node("planner", "brain"), 0.31);
  EXPECT_EQ(found->node("world", "body"), std::nullopt);
  ASSERT_NE(found->channel("scan"), nullptr);
  EXPECT_EQ(found->channel("scan")->bytes_per_s, 30'000);
  EXPECT_EQ(found->channel("image"), nullptr);
}

TEST(Prediction, AnEndlessSaturationPointIsNull) {
  const auto found = parse_prediction(
      R"({"verdict": "fits", "knee": null, "knee_low": null, "knee_high": null,
          "channels": {}, "parts": []})");
  ASSERT_TRUE(found) << found.error().to_string();
  EXPECT_TRUE(std::isinf(found->knee));
  EXPECT_EQ(verdict_text(*found), "plan check: fits at any factor");
  EXPECT_EQ(verdict_of(*found, 0.99), Prediction::Verdict::fits);
}

TEST(Prediction, AFaultOfTheTextIsNamed) {
  const std::string whole = kAnswer;
  const auto without = [&](const std::string& word) {
    std::string text = whole;
    text.replace(text.find(word), word.size(), "other");
    return text;
  };
  for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
           {"", "it is empty"},
           {" \n", "it is empty"},
           {"[1]", "no JSON object"},
           {whole.substr(0, whole.size() / 2), "no JSON object"},
           {without("marginal"), "'verdict'"},
           {without("knee_low"), "'knee_low'"},
           {without("channels"), "'channels'"},
           {without("parts"), "'parts'"},
           {without("rate_hz"), "'scan'"},
           {without("share"), "no share"}}) {
    const auto found = parse_prediction(text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().code, Code::corrupt);
    EXPECT_NE(found.error().message.find(reason), std::string::npos) << found.error().message;
    EXPECT_NE(found.error().message.find("hyphos plan check"), std::string::npos);
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(parse_prediction(whole.substr(0, size))) << size;
  }
}

TEST(GraphLoad, AVerdictHasTheBandOfTheWholeRobot) {
  const Prediction prediction = *parse_prediction(kAnswer);
  const double band = 1.2 / 0.9;
  EXPECT_EQ(verdict_of(prediction, 0.99 / band), Prediction::Verdict::fits);
  EXPECT_EQ(verdict_of(prediction, 1), Prediction::Verdict::marginal);
  EXPECT_EQ(verdict_of(prediction, 1.01 * band), Prediction::Verdict::does_not_fit);
}

TEST(GraphLoad, TextsHavePredictedAndMeasuredLoad) {
  const Prediction prediction = *parse_prediction(kAnswer);
  const GraphSnapshot now = robot();
  EXPECT_EQ(verdict_text(prediction),
            "plan check: marginal, up to × 1.2 of all rates (× 0.9 to × 1.6). First to break: "
            "callback of mapper on scan");
  EXPECT_EQ(node_load(prediction, now, 0),
            "\npredicted: process brain 31 % of its limit\ncallbacks: predicted 80 %, measured 12 "
            "% of a core");
  EXPECT_EQ(node_load(prediction, now, 1), "");
  EXPECT_EQ(edge_load(prediction, now, now.edges[0]),
            "\ncallback: predicted 80 %, measured 12 % of a core\nqueue: predicted < 1 % of its "
            "limit");
  EXPECT_EQ(edge_load(prediction, now, now.edges[1]), "\npredicted 20.0 Hz, 30.0 kB/s");
  EXPECT_EQ(channel_load(prediction, now.channels[1]), "");
}

TEST(GraphLoad, ASurplusOverThePredictionIsStated) {
  const Prediction prediction = *parse_prediction(kAnswer);
  ChannelRow row;
  row.name = "scan";
  row.rate_hz = 22;
  EXPECT_FALSE(above_prediction(prediction, row));
  row.rate_hz = 40;
  EXPECT_TRUE(above_prediction(prediction, row));
  EXPECT_NE(channel_load(prediction, row).find("publishes more"), std::string::npos);
}

}  // namespace
}  // namespace hyphos::view
