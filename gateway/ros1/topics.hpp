#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/ros1/graph_state.hpp"
#include "gateway/ros1/inbound_topic.hpp"
#include "gateway/ros1/member.hpp"
#include "gateway/ros1/names.hpp"
#include "gateway/ros1/tcpros_server.hpp"
#include "gateway/types/rules.hpp"

namespace hyphos::gateway::ros1 {

/// ROS topics that become channels: topics that other ROS nodes publish. Belongs to the call
/// thread.
class TopicsIn {
 public:
  TopicsIn(const Context& context, net::Loop& calls, const Member& member, Patterns which);

  /// Subscribes to new topics, subscribes again if the master has forgotten it, and ends
  /// subscriptions to topics that are gone.
  void look(const GraphState& state);
  /// The master reports the present publishers of a topic.
  void publishers(const std::string& topic, const Value& uris);
  void stop();

  /// The names of a topic's publishers in the graph, including publishers that ended recently.
  [[nodiscard]] std::set<std::string> clients(std::string_view topic) const;
  [[nodiscard]] std::map<std::string, std::string> types() const;  ///< by topic
  [[nodiscard]] std::vector<ConnectionInfo> connections() const;

 private:
  struct Subscription {
    TypeInfo type;
    bool registered = false;
    bool registering = false;
    std::map<std::string, std::shared_ptr<InboundTopic>>
        inbound_topics;  ///< by the publisher's URI
  };

  void begin(const std::string& topic, const std::string& type);
  void enroll(const std::string& topic);
  void end(const std::string& topic, Subscription& subscription);
  void end(const std::string& topic, InboundTopic& inbound_topic);

  const Context& context_;
  net::Loop& calls_;
  const Member& member_;
  const Patterns which_;
  std::map<std::string, Subscription, std::less<>> subscriptions_;
  /// End times of publishers, by topic and name. The graph may show them for a while.
  std::map<std::string, std::map<std::string, Time>, std::less<>> ended_;
  LogOnce logged_;
};

/// Channels that become ROS topics: channels with publishers outside the ROS graph. Belongs to the
/// call thread.
class TopicsOut {
 public:
  TopicsOut(const Context& context, const Member& member, TcprosServer& server, Patterns which);

  void look(const GraphState& state, const TopicsIn& in);
  void stop();

  /// ROS 1 types by topic.
  [[nodiscard]] const std::map<std::string, std::string>& types() const { return names_; }

 private:
  /// Reports each channel once.
  struct Offer {
    std::string type;  ///< of the channel
    bool latched = false;
  };

  /// Returns false if ROS 1 has no such type.
  bool offer(const std::string& topic, const Offer& wanted);
  void enroll(const std::string& topic);
  void end(const std::string& topic);

  const Context& context_;
  const Member& member_;
  TcprosServer& server_;
  const Patterns which_;
  std::map<std::string, Offer> offered_;      ///< by topic
  std::map<std::string, std::string> names_;  ///< names of their types in ROS 1
  std::set<std::string> registered_;
  std::set<std::string> registering_;
  LogOnce logged_;
};

/// A type under its ROS 1 name, if the graph knows it: "std_msgs/String" also for
/// "std_msgs/msg/String". Errors: not_found, unsupported (ROS 1 has no md5sum for it).
[[nodiscard]] Result<TypeInfo> type_of(const TypeLookup& types, const std::string& name);

}  // namespace hyphos::gateway::ros1
