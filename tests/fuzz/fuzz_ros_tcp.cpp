// The input of a ROS-TCP client, cut into frames and parsed. Every frame must be within the input,
// and an accepted command must be complete.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "gateway/ros_tcp/command.hpp"
#include "gateway/ros_tcp/frame.hpp"

using namespace hyphos::gateway;

namespace {

constexpr std::size_t kMostPayload = 1 << 16;

void require(bool holds) {
  if (!holds) std::abort();
}

void read_command(const ros_tcp::Frame& frame) {
  const std::string_view json(reinterpret_cast<const char*>(frame.payload.data()),
                              frame.payload.size());
  const auto command = ros_tcp::parse_command(frame.name, json);
  if (!command) {
    (void)ros_tcp::note(command.error().to_string());
    return;
  }
  const bool named = command->kind <= ros_tcp::Kind::remove_unity_service;
  require(!named || !command->topic.empty());
  require(command->kind > ros_tcp::Kind::unity_service || !command->type.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  while (!bytes.empty()) {
    const auto measured = ros_tcp::measure_frame(bytes, kMostPayload);
    if (!measured) return 0;
    require(measured->size > 0 && measured->size <= 8 + ros_tcp::kMostName + kMostPayload);
    if (!measured->whole) {
      require(measured->size > bytes.size());
      return 0;
    }
    if (measured->size > bytes.size()) return 0;
    const ros_tcp::Frame frame = ros_tcp::parse_frame(bytes.first(measured->size));
    require(frame.payload.size() <= kMostPayload && frame.name.size() <= ros_tcp::kMostName);
    if (frame.name.starts_with("__")) read_command(frame);
    bytes = bytes.subspan(measured->size);
  }
  return 0;
}
