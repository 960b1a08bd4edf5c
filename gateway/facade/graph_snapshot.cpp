#include "gateway/facade/graph_snapshot.hpp"

#include <unistd.h>

#include <set>
#include <utility>

#include "gateway/facade/channel_names.hpp"

namespace hyphos::gateway {

GraphSnapshot::GraphSnapshot(std::vector<ProcessInfo> processes, Self self)
    : processes_(std::move(processes)), self_(std::move(self)) {}

GraphSnapshot GraphSnapshot::of(const Node& node) {
  const Runtime runtime = node.runtime();
  auto processes = inspect(runtime.domain());
  return {processes ? std::move(*processes) : std::vector<ProcessInfo>(),
          {::getpid(), runtime.process(), node.name()}};
}

bool GraphSnapshot::is_here(const ProcessInfo& process) const {
  return process.pid == self_.pid && process.name == self_.process;
}

template <typename Visit>
void GraphSnapshot::for_each(Visit&& visit) const {
  for (const ProcessInfo& process : processes_) {
    for (const EndpointInfo& endpoint : process.endpoints) visit(process, endpoint);
  }
}

std::optional<EndpointInfo> GraphSnapshot::find(std::string_view channel) const {
  const EndpointInfo* found = nullptr;
  for_each([&](const ProcessInfo&, const EndpointInfo& endpoint) {
    if (endpoint.channel != channel) return;
    if (found != nullptr && endpoint.node == self_.node) return;
    if (found == nullptr || (endpoint.is_publisher && !found->is_publisher)) found = &endpoint;
  });
  return found == nullptr ? std::nullopt : std::optional(*found);
}

std::string GraphSnapshot::call_type(std::string_view kind, std::string_view name) const {
  const auto endpoint = find(request_channel(kind, name));
  return endpoint ? endpoint->type_name : "";
}

Policy GraphSnapshot::policy_here(std::string_view channel) const {
  for (const ProcessInfo& process : processes_) {
    if (!is_here(process)) continue;
    for (const EndpointInfo& endpoint : process.endpoints) {
      if (endpoint.is_publisher && endpoint.channel == channel) return endpoint.policy;
    }
  }
  return {};
}

std::map<std::uint64_t, std::size_t> GraphSnapshot::count_publishers(
    std::string_view channel) const {
  std::map<std::uint64_t, std::size_t> count;
  for_each([&](const ProcessInfo& process, const EndpointInfo& endpoint) {
    if (!endpoint.is_publisher || endpoint.channel != channel) return;
    ++count[process.participant];
    if (is_here(process)) ++count[kThisProcess];
  });
  return count;
}

bool GraphSnapshot::is_served(std::string_view kind, std::string_view name) const {
  const std::string channel = request_channel(kind, name);
  bool served = false;
  for_each([&](const ProcessInfo&, const EndpointInfo& endpoint) {
    served = served || (!endpoint.is_publisher && endpoint.channel == channel);
  });
  return served;
}

std::map<std::string, std::vector<GraphSnapshot::TopicEndpoint>> GraphSnapshot::topics() const {
  std::map<std::string, std::vector<TopicEndpoint>> found;
  for_each([&](const ProcessInfo& process, const EndpointInfo& endpoint) {
    if (endpoint.channel.starts_with(kInternal)) return;
    const bool own = process.pid == self_.pid && endpoint.node == self_.node;
    found[endpoint.channel].push_back({&endpoint, own});
  });
  return found;
}

std::vector<ServiceInfo> GraphSnapshot::services(std::string_view kind) const {
  std::vector<ServiceInfo> found;
  for_each([&](const ProcessInfo&, const EndpointInfo& endpoint) {
    // A server is a subscriber of the request channel.
    std::string_view name = endpoint.channel;
    if (endpoint.is_publisher || !name.starts_with(kind)) return;
    name.remove_prefix(kind.size());
    if (!name.ends_with(kRequest)) return;
    name.remove_suffix(kRequest.size());
    found.push_back({topic_of(name), {}, topic_of(endpoint.node), endpoint.type_name});
  });
  return found;
}

std::vector<std::string> GraphSnapshot::nodes() const {
  std::set<std::string> found;
  for_each([&](const ProcessInfo&, const EndpointInfo& endpoint) {
    found.insert(topic_of(endpoint.node));
  });
  return {found.begin(), found.end()};
}

}  // namespace hyphos::gateway
