#include "gateway/ros2/raw_type.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::gateway::ros2 {
namespace {

/// Bytes that DDS reserves per message. The reservation grows with larger messages.
constexpr std::uint32_t kReserved = 256;

}  // namespace

RawType::RawType(const std::string& name, std::size_t max_message) : max_message_(max_message) {
  setName(name.c_str());
  m_typeSize = kReserved;
  m_isGetKeyDefined = false;
  auto_fill_type_object(false);
  auto_fill_type_information(false);
}

bool RawType::serialize(void* data, eprosima::fastrtps::rtps::SerializedPayload_t* payload) {
  const RawSample& sample = *static_cast<const RawSample*>(data);
  const auto bytes = sample.bytes;
  if (bytes.size() < 4 || sample.size() > payload->max_size) return false;
  std::byte* to = std::ranges::copy(bytes, reinterpret_cast<std::byte*>(payload->data)).out;
  for (const auto part : sample.behind) to = std::ranges::copy(part, to).out;
  payload->encapsulation = static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[0]) << 8U |
                                                      std::to_integer<unsigned>(bytes[1]));
  payload->length = static_cast<std::uint32_t>(sample.size());
  return true;
}

bool RawType::deserialize(eprosima::fastrtps::rtps::SerializedPayload_t* payload, void* data) {
  RawSample& sample = *static_cast<RawSample*>(data);
  sample.bytes = {};
  sample.within = {};
  sample.too_large = payload->length > max_message_ ? payload->length : 0;
  if (sample.too_large > 0) return true;
  const std::span<const std::byte> from{reinterpret_cast<const std::byte*>(payload->data),
                                        payload->length};
  if (sample.lend != nullptr && *sample.lend) {
    if (WritableBuffer memory = (*sample.lend)(from.size()); !memory.empty()) {
      std::ranges::copy(from, memory.data());
      sample.within = std::move(memory).freeze(from.size());
      sample.bytes = sample.within.bytes();
      return true;
    }
  }
  if (sample.capacity < payload->length) {
    sample.storage.reset(new std::byte[payload->length]);
    sample.capacity = payload->length;
  }
  std::ranges::copy(from, sample.storage.get());
  sample.bytes = {sample.storage.get(), from.size()};
  return true;
}

std::function<std::uint32_t()> RawType::getSerializedSizeProvider(void* data) {
  const auto size = static_cast<std::uint32_t>(static_cast<const RawSample*>(data)->size());
  return [size] { return size; };
}

}  // namespace hyphos::gateway::ros2
