#include "gateway/facade/graph_view.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "gateway/facade/channel_names.hpp"
#include "gateway/facade/parameters.hpp"

namespace hyphos::gateway {

GraphView::GraphView(const Node& node)
    : self_{::getpid(), node.runtime().process(), node.name()},
      watch_(std::in_place, node.runtime().domain()) {}

GraphView::GraphView(Self self) : self_(std::move(self)) {}

void GraphView::apply(DomainWatch::Changes changes) {
  const MutexLock lock(mutex_);
  take(std::move(changes));
}

void GraphView::refresh() const {
  if (watch_) take(watch_->look());
}

void GraphView::take(DomainWatch::Changes changes) const {
  if (changes.empty()) return;
  ++version_;
  for (const std::uint64_t participant : changes.ended) {
    const auto first = places_.lower_bound({participant, 0});
    auto last = first;
    for (; last != places_.end() && last->first.first == participant; ++last) {
      remove(participant, last->first.second, last->second);
    }
    places_.erase(first, last);
    processes_.erase(participant);
  }
  for (auto& process : changes.started) processes_[process.participant] = std::move(process);
  for (const auto& place : changes.closed) {
    const auto found = places_.find(place);
    if (found == places_.end()) continue;
    remove(place.first, place.second, found->second);
    places_.erase(found);
  }
  for (auto& [participant, info] : changes.opened) {
    places_[{participant, info.id}] = info.channel;
    Ends& ends = channels_[info.channel];
    ends.push_back({participant, std::move(info)});
  }
}

void GraphView::remove(std::uint64_t participant, std::uint64_t id,
                       const std::string& channel) const {
  const auto found = channels_.find(channel);
  if (found == channels_.end()) return;
  std::erase_if(found->second, [&](const End& end) {
    return end.participant == participant && end.info.id == id;
  });
  if (found->second.empty()) channels_.erase(found);
}

const GraphView::Ends& GraphView::ends_of(const std::string& channel) const {
  static const Ends none;
  const auto found = channels_.find(channel);
  return found == channels_.end() ? none : found->second;
}

bool GraphView::is_here(std::uint64_t participant) const {
  const auto found = processes_.find(participant);
  return found != processes_.end() && found->second.pid == self_.pid &&
         found->second.name == self_.process;
}

std::optional<EndpointInfo> GraphView::find(const std::string& channel) const {
  const MutexLock lock(mutex_);
  refresh();
  const EndpointInfo* found = nullptr;
  for (const End& end : ends_of(channel)) {
    if (found != nullptr && end.info.node == self_.node) continue;
    if (found == nullptr || (end.info.is_publisher && !found->is_publisher)) found = &end.info;
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

GraphView::CallInfo GraphView::call(std::string_view kind, std::string_view name) const {
  const std::string channel = request_channel(kind, name);
  const MutexLock lock(mutex_);
  refresh();
  CallInfo call;
  const EndpointInfo* found = nullptr;
  for (const End& end : ends_of(channel)) {
    // A server is a subscriber of the request channel.
    if (!end.info.is_publisher && !std::exchange(call.served, true)) call.node = end.info.node;
    if (found != nullptr && end.info.node == self_.node) continue;
    if (found == nullptr || (end.info.is_publisher && !found->is_publisher)) found = &end.info;
  }
  if (found != nullptr) call.type = found->type_name;
  return call;
}

Policy GraphView::policy_here(const std::string& channel) const {
  const MutexLock lock(mutex_);
  refresh();
  for (const End& end : ends_of(channel)) {
    if (end.info.is_publisher && is_here(end.participant)) return end.info.policy;
  }
  return {};
}

std::map<std::uint64_t, std::size_t> GraphView::count_publishers(const std::string& channel) const {
  const MutexLock lock(mutex_);
  refresh();
  std::map<std::uint64_t, std::size_t> count;
  for (const End& end : ends_of(channel)) {
    if (!end.info.is_publisher) continue;
    ++count[end.participant];
    if (is_here(end.participant)) ++count[kThisProcess];
  }
  return count;
}

std::map<std::string, std::vector<GraphView::TopicEndpoint>> GraphView::topics() const {
  const MutexLock lock(mutex_);
  refresh();
  std::map<std::string, std::vector<TopicEndpoint>> found;
  for (const auto& [channel, ends] : channels_) {
    if (channel.starts_with(kInternal)) continue;
    auto& topic = found[channel];
    for (const End& end : ends) {
      const auto process = processes_.find(end.participant);
      const bool here = process != processes_.end() && process->second.pid == self_.pid;
      topic.push_back({end.info, here && end.info.node == self_.node});
    }
  }
  return found;
}

std::vector<ServiceInfo> GraphView::services(std::string_view kind) const {
  const MutexLock lock(mutex_);
  refresh();
  std::vector<ServiceInfo> found;
  for (const auto& [channel, ends] : channels_) {
    std::string_view name = channel;
    if (!name.starts_with(kind)) continue;
    name.remove_prefix(kind.size());
    if (!name.ends_with(kRequest)) continue;
    name.remove_suffix(kRequest.size());
    for (const End& end : ends) {
      // A server is a subscriber of the request channel.
      if (end.info.is_publisher) continue;
      found.push_back({topic_of(name), {}, topic_of(end.info.node), end.info.type_name});
    }
  }
  std::ranges::sort(found, {}, &ServiceInfo::name);
  return found;
}

std::vector<std::string> GraphView::nodes() const {
  const MutexLock lock(mutex_);
  refresh();
  std::set<std::string> found;
  for (const auto& [channel, ends] : channels_) {
    for (const End& end : ends) found.insert(topic_of(end.info.node));
  }
  return {found.begin(), found.end()};
}

std::set<std::string> GraphView::nodes_with_params() const {
  const MutexLock lock(mutex_);
  refresh();
  std::set<std::string> found;
  for (const auto& [channel, ends] : channels_) {
    if (!channel.ends_with("/_params")) continue;
    for (const End& end : ends) {
      const bool own = channel == params_channel(end.info.node, "_params");
      if (end.info.is_publisher && own) found.insert(end.info.node);
    }
  }
  return found;
}

std::uint64_t GraphView::version() const {
  const MutexLock lock(mutex_);
  refresh();
  return version_;
}

DomainWatch::Cost GraphView::cost() const {
  const MutexLock lock(mutex_);
  return watch_ ? watch_->cost() : DomainWatch::Cost();
}

}  // namespace hyphos::gateway
