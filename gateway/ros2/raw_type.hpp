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

/// A message as DDS carries it: CDR with its encapsulation.
struct RawSample {
  std::span<const std::byte> bytes;
  std::array<std::span<const std::byte>, 2> behind;  ///< what follows them in one that is sent
  [[nodiscard]] std::size_t size() const {
    return bytes.size() + behind[0].size() + behind[1].size();
  }
  std::size_t too_large = 0;  ///< received, and larger than the type takes: its size; no bytes

  /// Gives memory to receive into, of which `within` has it then; or none.
  const std::function<WritableBuffer(std::size_t)>* lend = nullptr;
  Buffer within;
  std::unique_ptr<std::byte[]> storage;  ///< of what was received else; kept for the next
  std::size_t capacity = 0;
};

/// Any type of ROS under its name, whose bytes are not looked into. One copy each way.
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
