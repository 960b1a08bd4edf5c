#pragma once

#include <array>
#include <cstddef>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "hyphos/buffer.hpp"

namespace hyphos::gateway::ros2 {

/// A message as DDS carries it: CDR with its encapsulation header.
struct RawSample {
  std::span<const std::byte> bytes;
  std::array<std::span<const std::byte>, 2> behind;  ///< the rest of a message to send
  [[nodiscard]] std::size_t size() const {
    return bytes.size() + behind[0].size() + behind[1].size();
  }
  /// size of a received message above the limit, which has no bytes. 0: none
  std::size_t too_large = 0;

  /// Provides memory for a received message. `within` then refers to it. It may return none.
  const std::function<WritableBuffer(std::size_t)>* lend = nullptr;
  Buffer within;
  /// memory for other received messages, kept for the next one
  std::unique_ptr<std::byte[]> storage;
  std::size_t capacity = 0;
};

/// A DDS type for any ROS type, which passes messages as bytes. Cost: one copy in each direction.
class RawType final : public eprosima::fastdds::dds::TopicDataType {
 public:
  RawType(const std::string& name, std::size_t max_message);

  bool serialize(void* data, eprosima::fastrtps::rtps::SerializedPayload_t* payload) override;
  bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t* payload, void* data) override;
  std::function<std::uint32_t()> getSerializedSizeProvider(void* data) override;
  void* createData() override { return new RawSample; }
  void deleteData(void* data) override { delete static_cast<RawSample*>(data); }
  bool getKey(void*, eprosima::fastrtps::rtps::InstanceHandle_t*, bool) override { return false; }

 private:
  const std::size_t max_message_;
};

}  // namespace hyphos::gateway::ros2
