#include "gateway/ros1/registrations.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr std::string_view kAny = "*";

std::vector<std::string> uris_in(
    const std::map<std::string, Registrations::Nodes, std::less<>>& table, std::string_view name) {
  std::vector<std::string> found;
  const auto entry = table.find(name);
  if (entry == table.end()) return found;
  for (const auto& [node, uri] : entry->second) found.push_back(uri);
  return found;
}

}  // namespace

Registrations::Changes Registrations::enter(const std::string& node, const std::string& uri) {
  Changes changes;
  const auto known = nodes_.find(node);
  if (known != nodes_.end() && known->second.uri != uri) {
    changes.replaced = known->second.uri;
    changes.topics = remove_node(node);
  }
  nodes_[node].uri = uri;
  return changes;
}

void Registrations::leave(const std::string& node) {
  --entries_;
  const auto known = nodes_.find(node);
  if (known != nodes_.end() && --known->second.entries == 0) nodes_.erase(known);
}

void Registrations::insert(ByName& table, const std::string& name, const std::string& node,
                           const std::string& uri) {
  if (!table[name].insert_or_assign(node, uri).second) return;
  ++nodes_[node].entries;
  ++entries_;
}

bool Registrations::erase(ByName& table, const std::string& name, const std::string& node,
                          const std::string& uri) {
  const auto entry = table.find(name);
  if (entry == table.end()) return false;
  const auto mine = entry->second.find(node);
  if (mine == entry->second.end() || mine->second != uri) return false;
  entry->second.erase(mine);
  if (entry->second.empty()) table.erase(entry);
  leave(node);
  return true;
}

Registrations::Changes Registrations::add_publisher(const std::string& node, const std::string& uri,
                                                    const std::string& topic,
                                                    const std::string& type) {
  Changes changes = enter(node, uri);
  insert(publishers_, topic, node, uri);
  if (type != kAny || !types_.contains(topic)) types_[topic] = type;
  changes.topics.insert(topic);
  return changes;
}

Registrations::Changes Registrations::add_subscriber(const std::string& node,
                                                     const std::string& uri,
                                                     const std::string& topic,
                                                     const std::string& type) {
  Changes changes = enter(node, uri);
  insert(subscribers_, topic, node, uri);
  if (type != kAny) {
    const auto known = types_.find(topic);
    if (known == types_.end() || known->second == kAny) types_[topic] = type;
  }
  return changes;
}

Registrations::Changes Registrations::add_service(const std::string& node, const std::string& uri,
                                                  const std::string& service,
                                                  const std::string& service_uri) {
  Changes changes = enter(node, uri);
  const auto before = services_.find(service);
  if (before != services_.end()) {
    const std::string last = before->second.node;
    before->second = {node, service_uri};
    if (last == node) return changes;
    ++nodes_[node].entries;
    ++entries_;
    leave(last);
    return changes;
  }
  services_[service] = {node, service_uri};
  ++nodes_[node].entries;
  ++entries_;
  return changes;
}

Registrations::Changes Registrations::add_param_watcher(const std::string& node,
                                                        const std::string& uri,
                                                        const std::string& param) {
  Changes changes = enter(node, uri);
  insert(param_watchers_, param, node, uri);
  return changes;
}

bool Registrations::remove_publisher(const std::string& node, const std::string& uri,
                                     const std::string& topic) {
  return erase(publishers_, topic, node, uri);
}

bool Registrations::remove_subscriber(const std::string& node, const std::string& uri,
                                      const std::string& topic) {
  return erase(subscribers_, topic, node, uri);
}

bool Registrations::remove_service(const std::string& node, const std::string& service,
                                   const std::string& service_uri) {
  const auto entry = services_.find(service);
  if (entry == services_.end() || entry->second.node != node || entry->second.uri != service_uri) {
    return false;
  }
  services_.erase(entry);
  leave(node);
  return true;
}

bool Registrations::remove_param_watcher(const std::string& node, const std::string& uri,
                                         const std::string& param) {
  return erase(param_watchers_, param, node, uri);
}

std::set<std::string> Registrations::remove_node(const std::string& node) {
  std::set<std::string> topics;
  const auto clear = [&](ByName& table, std::set<std::string>* touched) {
    for (auto entry = table.begin(); entry != table.end();) {
      if (entry->second.erase(node) == 1) {
        if (touched != nullptr) touched->insert(entry->first);
        leave(node);
      }
      entry = entry->second.empty() ? table.erase(entry) : std::next(entry);
    }
  };
  clear(publishers_, &topics);
  clear(subscribers_, nullptr);
  clear(param_watchers_, nullptr);
  for (auto service = services_.begin(); service != services_.end();) {
    const bool its = service->second.node == node;
    if (its) leave(node);
    service = its ? services_.erase(service) : std::next(service);
  }
  nodes_.erase(node);
  return topics;
}

std::vector<std::string> Registrations::at(std::string_view uri) const {
  std::vector<std::string> names;
  for (const auto& [name, node] : nodes_) {
    if (node.uri == uri) names.push_back(name);
  }
  return names;
}

std::set<std::string> Registrations::uris() const {
  std::set<std::string> all;
  for (const auto& [name, node] : nodes_) all.insert(node.uri);
  return all;
}

std::string Registrations::node_uri(std::string_view node) const {
  const auto known = nodes_.find(node);
  return known == nodes_.end() ? std::string() : known->second.uri;
}

const Registrations::Service* Registrations::service(std::string_view name) const {
  const auto known = services_.find(name);
  return known == services_.end() ? nullptr : &known->second;
}

std::vector<std::string> Registrations::publisher_uris(std::string_view topic) const {
  return uris_in(publishers_, topic);
}

std::vector<std::string> Registrations::subscriber_uris(std::string_view topic) const {
  return uris_in(subscribers_, topic);
}

std::string Registrations::type(std::string_view topic) const {
  const auto known = types_.find(topic);
  return known == types_.end() ? std::string(kAny) : known->second;
}

}  // namespace hyphos::gateway::ros1
