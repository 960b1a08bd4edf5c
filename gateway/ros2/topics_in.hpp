#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/endpoint.hpp"
#include "gateway/ros2/left_out.hpp"

namespace hyphos::gateway::ros2 {

/// A topic that others publish, as a reader asks for it: with what all of them offer.
struct Offer {
  std::string type;  ///< "std_msgs/msg/String"
  Qos qos{.transient_local = true};
  std::set<GUID_t> writers;
};

/// Topics of ROS by name that have writers. Of one whose writers have several types, that of most.
[[nodiscard]] std::map<std::string, Offer> offers_of(const Remotes& writers);

/// Topics of ROS that become channels: whatever others write there. Of one thread, except that
/// messages come in threads of DDS.
class TopicsIn {
 public:
  explicit TopicsIn(const Context& context);
  ~TopicsIn();
  TopicsIn(const TopicsIn&) = delete;
  TopicsIn& operator=(const TopicsIn&) = delete;

  /// Opens what is new, ends what is gone, and asks anew where the writers offer something else.
  void look(const DomainState& state);
  /// Passes on what waits for room in channels. True while something does: Context::drain() has
  /// asked for it.
  bool drain();
  [[nodiscard]] std::vector<GUID_t> readers() const;
  void add_endpoints(OwnEndpoints& endpoints) const;

 private:
  class Inbound;

  const Context& context_;
  std::map<std::string, std::unique_ptr<Inbound>> inbound_;  ///< by topic
  FailedOpens refused_;
};

}  // namespace hyphos::gateway::ros2
