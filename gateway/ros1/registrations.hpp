#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace hyphos::gateway::ros1 {

/// Who publishes, subscribes and serves what: the memory of a master. A node is a name and the URI
/// of its XML-RPC server. Not thread-safe; does no I/O.
class Registrations {
 public:
  using Nodes = std::map<std::string, std::string>;  ///< URI by name
  /// Of nodes, topics and services together: whoever can reach the master could fill it.
  static constexpr std::size_t kMaxEntries = 100'000;

  /// What has to be told to others after a change.
  struct Changes {
    std::set<std::string> topics;  ///< with other publishers than before
    std::string replaced;          ///< the URI of a node of the same name, which has to go
  };

  struct Service {
    std::string node;
    std::string uri;  ///< "rosrpc://host:port"
  };

  /// Each registers the node as well. One that was known by another URI is gone with all it had.
  Changes add_publisher(const std::string& node, const std::string& uri, const std::string& topic,
                        const std::string& type);
  Changes add_subscriber(const std::string& node, const std::string& uri, const std::string& topic,
                         const std::string& type);
  Changes add_service(const std::string& node, const std::string& uri, const std::string& service,
                      const std::string& service_uri);
  Changes add_param_watcher(const std::string& node, const std::string& uri,
                            const std::string& param);

  /// False: it was not registered, or by another URI.
  bool remove_publisher(const std::string& node, const std::string& uri, const std::string& topic);
  bool remove_subscriber(const std::string& node, const std::string& uri, const std::string& topic);
  bool remove_service(const std::string& node, const std::string& service,
                      const std::string& service_uri);
  bool remove_param_watcher(const std::string& node, const std::string& uri,
                            const std::string& param);
  /// With all it has. Returns the topics that have other publishers now.
  std::set<std::string> remove_node(const std::string& node);
  /// The names of the nodes at a URI, of which there may be several.
  [[nodiscard]] std::vector<std::string> at(std::string_view uri) const;

  [[nodiscard]] std::set<std::string> uris() const;

  /// It has no room for one entry more.
  [[nodiscard]] bool full() const {
    return entries_ >= kMaxEntries || types_.size() >= kMaxEntries;
  }
  /// Empty: there is none.
  [[nodiscard]] std::string node_uri(std::string_view node) const;
  [[nodiscard]] const Service* service(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> publisher_uris(std::string_view topic) const;
  [[nodiscard]] std::vector<std::string> subscriber_uris(std::string_view topic) const;
  /// "*" while only those have registered who take any.
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
    std::size_t entries = 0;  ///< it is forgotten with the last one
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
  /// Kept when all are gone, as ROS does: tools ask for the types of topics that once were.
  std::map<std::string, std::string, std::less<>> types_;
  std::size_t entries_ = 0;
};

}  // namespace hyphos::gateway::ros1
