#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hyphos::gateway::ros1 {

/// The memory of a master: the publishers, subscribers and servers of all names. A node is a name
/// and the URI of its XML-RPC server. Not thread-safe. Does no I/O.
class Registrations {
 public:
  using Nodes = std::map<std::string, std::string>;  ///< URI by name
  /// Maximum number of nodes, topics and services together. Without a bound, any client of the
  /// master could fill it.
  static constexpr std::size_t kMaxEntries = 100'000;

  /// The notifications that a change requires.
  struct Changes {
    std::set<std::string> topics;  ///< topics whose publishers have changed
    std::string replaced;  ///< URI of an older node with the same name, which must shut down
  };

  struct Service {
    std::string node;
    std::string uri;  ///< "rosrpc://host:port"
  };

  /// Each call also registers the node. A node that was known under another URI is removed with all
  /// its entries.
  Changes add_publisher(const std::string& node, const std::string& uri, const std::string& topic,
                        const std::string& type);
  Changes add_subscriber(const std::string& node, const std::string& uri, const std::string& topic,
                         const std::string& type);
  Changes add_service(const std::string& node, const std::string& uri, const std::string& service,
                      const std::string& service_uri);
  Changes add_param_watcher(const std::string& node, const std::string& uri,
                            const std::string& param);

  /// Returns false if it was not registered, or with another URI.
  bool remove_publisher(const std::string& node, const std::string& uri, const std::string& topic);
  bool remove_subscriber(const std::string& node, const std::string& uri, const std::string& topic);
  bool remove_service(const std::string& node, const std::string& service,
                      const std::string& service_uri);
  bool remove_param_watcher(const std::string& node, const std::string& uri,
                            const std::string& param);
  /// Removes a node with all its entries. Returns the topics whose publishers have changed.
  std::set<std::string> remove_node(const std::string& node);
  /// The names of the nodes at a URI. There may be several.
  [[nodiscard]] std::vector<std::string> at(std::string_view uri) const;

  [[nodiscard]] std::set<std::string> uris() const;

  /// True if there is no room for another entry.
  [[nodiscard]] bool full() const {
    return entries_ >= kMaxEntries || types_.size() >= kMaxEntries;
  }
  /// Empty or null if there is none.
  [[nodiscard]] std::string node_uri(std::string_view node) const;
  [[nodiscard]] const Service* service(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> publisher_uris(std::string_view topic) const;
  [[nodiscard]] std::vector<std::string> subscriber_uris(std::string_view topic) const;
  /// "*" while only nodes without a definite type have registered.
  [[nodiscard]] std::string type(std::string_view topic) const;

  [[nodiscard]] const std::map<std::string, Nodes, std::less<>>& publishers() const {
    return publishers_;
  }
  [[nodiscard]] const std::map<std::string, Nodes, std::less<>>& subscribers() const {
    return subscribers_;
  }
  [[nodiscard]] const std::map<std::string, Service, std::less<>>& services() const {
    return services_;
  }
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& types() const {
    return types_;
  }
  [[nodiscard]] const std::map<std::string, Nodes, std::less<>>& param_watchers() const {
    return param_watchers_;
  }

 private:
  using ByName = std::map<std::string, Nodes, std::less<>>;
  struct Node {
    std::string uri;
    std::size_t entries = 0;  ///< the node is forgotten with its last entry
  };

  Changes enter(const std::string& node, const std::string& uri);
  void leave(const std::string& node);
  void insert(ByName& table, const std::string& name, const std::string& node,
              const std::string& uri);
  bool erase(ByName& table, const std::string& name, const std::string& node,
             const std::string& uri);

  std::map<std::string, Node, std::less<>> nodes_;
  ByName publishers_;
  ByName subscribers_;
  ByName param_watchers_;
  std::map<std::string, Service, std::less<>> services_;
  /// Kept after all nodes are gone, as in ROS: tools ask for the types of former topics.
  std::map<std::string, std::string, std::less<>> types_;
  std::size_t entries_ = 0;
};

}  // namespace hyphos::gateway::ros1
