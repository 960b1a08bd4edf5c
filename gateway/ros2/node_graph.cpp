#include "gateway/ros2/node_graph.hpp"

#include <algorithm>
#include <utility>

#include "gateway/ros2/names.hpp"
#include "gateway/ros2/participant.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr std::string_view kDiscoveryTopic = "ros_discovery_info";
constexpr std::string_view kType = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_";
/// rmw_cyclonedds_cpp warns about endpoints without it. Up to Humble there is none.
constexpr std::string_view kTypeHash =
    "RIHS01_91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e";
/// Participants whose latest announcement is kept until it is read.
constexpr std::int32_t kWaiting = 256;

EndpointSpec spec(std::int32_t depth, GidSize size) {
  return {std::string(kDiscoveryTopic),
          std::string(kType),
          {true, true, depth},
          size == GidSize::humble ? std::string() : put_user_data("typehash", kTypeHash)};
}

std::string full_name(const NodeEntities& node) {
  return (node.name_space == "/" ? "" : node.name_space) + "/" + node.name;
}

std::vector<Gid> gids_of(const std::vector<GUID_t>& guids) {
  std::vector<Gid> gids(guids.size());
  std::transform(guids.begin(), guids.end(), gids.begin(), gid_of);
  return gids;
}

}  // namespace

NodeGraph::NodeGraph(std::shared_ptr<Participant> participant, const Settings& settings)
    : participant_(std::move(participant)),
      settings_(settings),
      writer_(participant_, {}),
      reader_(participant_, [this](const Received& message) { on_message(message); }, {}) {}

Result<void> NodeGraph::open() {
  if (auto opened = reader_.open(spec(kWaiting, settings_.gid_size)); !opened) return opened;
  return writer_.open(spec(1, settings_.gid_size));
}

void NodeGraph::close() {
  reader_.close();
  writer_.close();
}

void NodeGraph::announce(const std::vector<GUID_t>& readers, const std::vector<GUID_t>& writers,
                         std::vector<NodeEntities> robot) {
  const auto [name_space, name] = split_node(settings_.node);
  NodeEntities own{name_space, name, gids_of(readers), gids_of(writers)};
  std::set<Gid> of_robot;
  for (const NodeEntities& node : robot) {
    of_robot.insert(node.readers.begin(), node.readers.end());
    of_robot.insert(node.writers.begin(), node.writers.end());
  }
  for (auto* const gids : {&own.readers, &own.writers}) {
    std::erase_if(*gids, [&](const Gid& gid) { return of_robot.contains(gid); });
  }
  robot.insert(robot.begin(), std::move(own));
  const ParticipantEntities ours{participant_->gid(), std::move(robot)};
  auto bytes = write_entities(ours, settings_.gid_size);
  if (bytes == announced_) return;
  if (writer_.write(bytes)) announced_ = std::move(bytes);
}

void NodeGraph::on_message(const Received& message) {
  auto entities = read_entities(message.bytes, settings_.gid_size);
  if (!entities) return;
  const MutexLock lock(mutex_);
  if (const auto before = others_.find(entities->gid); before != others_.end()) {
    for (const NodeEntities& node : before->second.nodes) {
      for (const Gid& gid : node.readers) names_.erase(gid);
      for (const Gid& gid : node.writers) names_.erase(gid);
    }
  }
  for (const NodeEntities& node : entities->nodes) {
    for (const Gid& gid : node.readers) names_[gid] = full_name(node);
    for (const Gid& gid : node.writers) names_[gid] = full_name(node);
  }
  others_[entities->gid] = std::move(*entities);
}

std::string NodeGraph::node_of(const GUID_t& endpoint) const {
  const MutexLock lock(mutex_);
  const auto found = names_.find(gid_of(endpoint));
  return found == names_.end() ? std::string(kNoNode) : found->second;
}

std::set<std::string> NodeGraph::nodes() const {
  const MutexLock lock(mutex_);
  std::set<std::string> nodes;
  for (const auto& [gid, entities] : others_) {
    for (const NodeEntities& node : entities.nodes) nodes.insert(full_name(node));
  }
  return nodes;
}

void NodeGraph::keep(const std::function<bool(const Gid& participant)>& is_there) {
  const MutexLock lock(mutex_);
  for (auto other = others_.begin(); other != others_.end();) {
    if (is_there(other->first)) {
      ++other;
      continue;
    }
    for (const NodeEntities& node : other->second.nodes) {
      for (const Gid& gid : node.readers) names_.erase(gid);
      for (const Gid& gid : node.writers) names_.erase(gid);
    }
    other = others_.erase(other);
  }
}

}  // namespace hyphos::gateway::ros2
