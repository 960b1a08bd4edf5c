#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gateway/convert/converter.hpp"
#include "gateway/convert/form.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/result.hpp"

namespace hyphos::gateway {

/// A type of ROS in the form of one type of channels.
///
/// A raw channel carries CDR as DDS has it, encapsulation and all; its type is called
/// "cdr:sensor_msgs/msg/Image", of encoding bytes. CDR goes in and out of it as it is, not looked
/// into; the other forms are converted from CDR and to it, which costs two conversions.
struct ChannelCodec {
  TypeId id;  ///< of the channel
  Converter converter;
  bool only_lists = false;  ///< messages of the channel are joined by writing them one by one
  /// Of a raw channel: between CDR and the message by way of which `converter` has other forms. The
  /// two may be of different flavours, which have other fields: ROS 1's header has a number.
  const Converter* cdr = nullptr;

  /// As those of Converter, for messages of the channel.
  [[nodiscard]] Result<RawMessage> read(Form form, std::span<const std::byte> message,
                                        const Lend& lend, std::int64_t now_ns,
                                        const DecodeHint& within = {}) const;
  [[nodiscard]] Result<EncodedMessage> write(Form form, const RawMessage& message) const;
  /// Whether a message of this size that is read `within` memory stays there, in part at least.
  [[nodiscard]] bool keeps(std::size_t size) const {
    return cdr != nullptr || (id.encoding == Encoding::attached && size >= Converter::kKept);
  }
};

/// The type of a raw channel: "cdr:std_msgs/msg/String" of "std_msgs/msg/String".
[[nodiscard]] TypeId raw_type(std::string_view ros2_name);
/// "std_msgs/msg/String" of that; empty for the type of any other channel.
[[nodiscard]] std::string_view raw_name(std::string_view channel_type);

}  // namespace hyphos::gateway
