#include "gateway/ros_tcp/frame.hpp"

#include <cassert>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace hyphos::gateway::ros_tcp {
namespace {

constexpr std::size_t kLength = 4;

std::uint32_t read_u32(const std::byte* at) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < kLength; ++i) {
    value |= std::to_integer<std::uint32_t>(at[i]) << (8 * i);
  }
  return value;
}

/// Writes into a buffer of the exact size.
class Writer {
 public:
  explicit Writer(std::size_t size) : buffer_(WritableBuffer::on_heap(size)) {}

  Writer& length(std::size_t value) {
    for (unsigned i = 0; i < kLength; ++i) {
      buffer_.data()[at_++] = static_cast<std::byte>(value >> (8 * i));
    }
    return *this;
  }
  Writer& text(std::string_view text) {
    length(text.size());
    if (!text.empty()) std::memcpy(buffer_.data() + at_, text.data(), text.size());
    at_ += text.size();
    return *this;
  }
  Buffer done() {
    assert(at_ == buffer_.size());
    return std::move(buffer_).freeze();
  }

 private:
  WritableBuffer buffer_;
  std::size_t at_ = 0;
};

}  // namespace

Result<net::Measured> measure_frame(std::span<const std::byte> bytes, std::size_t max_payload) {
  if (bytes.size() < kLength) return net::Measured::at_least(kLength);
  const std::size_t name = read_u32(bytes.data());
  if (name > kMostName) {
    return Error{Code::corrupt,
                 "a frame name has " + std::to_string(name) + " bytes, more than the limit of " +
                     std::to_string(kMostName) + ". The data is not ROS-TCP",
                 {}};
  }
  const std::size_t head = kLength + name + kLength;
  if (bytes.size() < head) return net::Measured::at_least(head);
  const std::size_t payload = read_u32(bytes.data() + kLength + name);
  if (payload > max_payload) {
    return Error{Code::overloaded,
                 "a message has " + std::to_string(payload) + " bytes, more than the limit of " +
                     std::to_string(max_payload) + ". Raise --max-message",
                 std::string(parse_frame(bytes.first(head)).name)};
  }
  return net::Measured::unit(head + payload);
}

Frame parse_frame(std::span<const std::byte> unit) {
  const std::size_t size = read_u32(unit.data());
  Frame frame;
  frame.name = {reinterpret_cast<const char*>(unit.data()) + kLength, size};
  while (frame.name.ends_with('\0')) frame.name.remove_suffix(1);
  frame.payload = unit.subspan(kLength + size + kLength);
  return frame;
}

Buffer frame_head(std::string_view name, std::size_t payload) {
  return Writer(kLength + name.size() + kLength).text(name).length(payload).done();
}

Buffer frame_and_head(std::string_view announcement, std::string_view text, std::string_view name,
                      std::size_t payload) {
  return Writer(4 * kLength + announcement.size() + text.size() + name.size())
      .text(announcement)
      .text(text)
      .text(name)
      .length(payload)
      .done();
}

Buffer whole_frame(std::string_view name, std::string_view payload) {
  return Writer(2 * kLength + name.size() + payload.size()).text(name).text(payload).done();
}

}  // namespace hyphos::gateway::ros_tcp
