#pragma once

#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "gateway/ros2/endpoint.hpp"

namespace hyphos::gateway::ros2 {

/// A writer or reader of somebody else.
struct Remote {
  std::string topic;
  std::string type;
  Qos qos;
};

using Remotes = std::map<GUID_t, Remote>;

struct DomainState {
  Remotes writers;
  Remotes readers;
};

/// What DDS has discovered of a domain. Thread-safe.
class Discovery final : public eprosima::fastdds::dds::DomainParticipantListener {
 public:
  /// `changed` is called in threads of DDS, and must not block.
  explicit Discovery(std::function<void()> changed) : changed_(std::move(changed)) {}
  [[nodiscard]] DomainState state() const;

 private:
  void on_participant_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                                eprosima::fastrtps::rtps::ParticipantDiscoveryInfo&& info) override;
  void on_publisher_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                              eprosima::fastrtps::rtps::WriterDiscoveryInfo&& info) override;
  void on_subscriber_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                               eprosima::fastrtps::rtps::ReaderDiscoveryInfo&& info) override;

  const std::function<void()> changed_;
  mutable std::mutex mutex_;  // guards what follows
  DomainState state_;
};

}  // namespace hyphos::gateway::ros2
