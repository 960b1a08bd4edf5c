#include "view/core/plan_graph.hpp"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <map>
#include <string>

namespace hyphos::view {
namespace {

using google::protobuf::ListValue;
using google::protobuf::Struct;
using google::protobuf::Value;

constexpr std::size_t kMaxPlanText = 16U << 20U;  // bytes
constexpr std::size_t kMostEndpoints = 4'096;     // that are drawn

const Value& value_of(const Struct& object, const char* key) {
  const auto found = object.fields().find(key);
  return found == object.fields().end() ? Value::default_instance() : found->second;
}

const ListValue& items_of(const Struct& object, const char* key) {
  return value_of(object, key).list_value();  // empty for any other kind
}

std::string word_of(const Value& object, const char* key) {
  return value_of(object.struct_value(), key).string_value();
}

}  // namespace

void add_plan(GraphSnapshot& out, std::string_view json) {
  Struct plan;
  if (json.size() > kMaxPlanText ||
      !google::protobuf::util::JsonStringToMessage(std::string(json), &plan).ok()) {
    return;
  }
  std::map<std::string, std::string> hosts;  // by process
  for (const Value& process : items_of(plan, "processes").values()) {
    hosts[word_of(process, "name")] = word_of(process, "host");
  }
  std::map<std::string, std::uint32_t> nodes;
  for (const Value& node : items_of(plan, "nodes").values()) {
    const std::string name = word_of(node, "name");
    if (name.empty()) continue;
    if (!nodes.try_emplace(name, static_cast<std::uint32_t>(out.nodes.size())).second) continue;
    GraphNode& made = out.nodes.emplace_back();
    made.node = name;
    made.process = word_of(node, "process");
    made.host = hosts[made.process];
  }
  std::map<std::string, std::uint32_t> rows;
  for (std::size_t i = 0; i < out.channels.size(); ++i) {
    rows[out.channels[i].name] = static_cast<std::uint32_t>(i);
  }
  for (const Value& channel : items_of(plan, "channels").values()) {
    const auto row = rows.find(word_of(channel, "name"));
    if (row == rows.end()) continue;
    ChannelRow& recorded = out.channels[row->second];
    for (const bool publishes : {true, false}) {
      const char* const ends = publishes ? "publishers" : "subscribers";
      for (const Value& end : items_of(channel.struct_value(), ends).values()) {
        const auto node = nodes.find(end.string_value());
        if (node == nodes.end() || out.edges.size() >= kMostEndpoints) continue;
        ++(publishes ? recorded.publishers : recorded.subscribers);
        GraphEdge& edge = out.edges.emplace_back();
        edge.node = node->second;
        edge.channel = row->second;
        edge.publishes = publishes;
        edge.rate_hz = recorded.rate_hz;
        edge.bytes_per_s = recorded.bytes_per_s;
      }
    }
  }
}

}  // namespace hyphos::view
