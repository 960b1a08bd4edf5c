#pragma once

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.hpp"
#include "gateway/ros2/entities.hpp"
#include "gateway/ros2/settings.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway::ros2 {

/// This process as a participant of a DDS domain. Thread-safe.
class Participant {
 public:
  /// `listener` must outlive the returned object, or its stop_listening(). Errors: io.
  static Result<std::shared_ptr<Participant>> open(
      const Settings& settings, eprosima::fastdds::dds::DomainParticipantListener* listener);
  ~Participant();
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  void stop_listening();

  /// Takes a topic, which has one type here. The caller must give it back. Errors: type_mismatch,
  /// io.
  Result<eprosima::fastdds::dds::Topic*> take_topic(const std::string& name,
                                                    const std::string& type);
  void give_back_topic(const std::string& name);

  [[nodiscard]] eprosima::fastdds::dds::Publisher* publisher() const { return publisher_; }
  [[nodiscard]] eprosima::fastdds::dds::Subscriber* subscriber() const { return subscriber_; }
  [[nodiscard]] std::size_t max_message() const { return max_message_; }
  /// True for an entity of this participant.
  [[nodiscard]] bool is_own(const eprosima::fastrtps::rtps::GUID_t& guid) const;
  [[nodiscard]] Gid gid() const;

 private:
  struct SharedTopic {
    eprosima::fastdds::dds::Topic* topic = nullptr;
    std::string type;
    std::size_t users = 0;
  };

  Participant() = default;

  std::size_t max_message_ = 0;
  eprosima::fastdds::dds::DomainParticipant* participant_ = nullptr;
  eprosima::fastdds::dds::Publisher* publisher_ = nullptr;
  eprosima::fastdds::dds::Subscriber* subscriber_ = nullptr;
  Mutex mutex_;
  std::map<std::string, SharedTopic> topics_ HYPHOS_GUARDED_BY(mutex_);
};

[[nodiscard]] Gid gid_of(const eprosima::fastrtps::rtps::GUID_t& guid);

}  // namespace hyphos::gateway::ros2
