#pragma once

#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/mutex.hpp"
#include "gateway/ros2/endpoint.hpp"
#include "hyphos/time.hpp"

namespace hyphos::gateway::ros2 {

using eprosima::fastrtps::rtps::GuidPrefix_t;

/// A writer or reader of another participant.
struct Remote {
  std::string topic;
  std::string type;
  Qos qos;
  std::string client_id;  ///< announced by a service client for both endpoints, mostly empty
};

using Remotes = std::map<GUID_t, Remote>;

struct DomainState {
  Remotes writers;
  Remotes readers;
};

/// The entities that DDS has discovered in a domain. Thread-safe.
class Discovery final : public eprosima::fastdds::dds::DomainParticipantListener {
 public:
  /// `changed` is called in threads of DDS and must not block.
  explicit Discovery(std::function<void()> changed) : changed_(std::move(changed)) {}
  [[nodiscard]] DomainState state() const;
  /// The time at which the participant of this entity was discovered. The present time if it is
  /// unknown.
  [[nodiscard]] Time known_since(const GUID_t& guid) const;
  /// The client id of a writer or reader. Empty if it announces none or is unknown.
  [[nodiscard]] std::string client_id(const GUID_t& guid) const;
  /// True for a reader that requests no retransmission.
  [[nodiscard]] bool is_best_effort(const GUID_t& reader) const;

 private:
  void on_participant_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                                eprosima::fastrtps::rtps::ParticipantDiscoveryInfo&& info) override;
  void on_publisher_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                              eprosima::fastrtps::rtps::WriterDiscoveryInfo&& info) override;
  void on_subscriber_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                               eprosima::fastrtps::rtps::ReaderDiscoveryInfo&& info) override;

  const std::function<void()> changed_;
  mutable Mutex mutex_;
  DomainState state_ HYPHOS_GUARDED_BY(mutex_);
  std::map<GuidPrefix_t, Time> participants_ HYPHOS_GUARDED_BY(mutex_);  ///< discovery time of each
};

}  // namespace hyphos::gateway::ros2
