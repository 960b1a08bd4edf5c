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

/// Converts messages of one ROS type to and from one channel type.
///
/// A raw channel carries CDR as DDS does, with its encapsulation header. Its type is called
/// "cdr:sensor_msgs/msg/Image" and has the encoding bytes. CDR passes through a raw channel
/// unchanged and unread. Other encodings are converted by way of CDR, which costs two conversions.
struct ChannelCodec {
  TypeId id;  ///< of the channel
  Converter converter;
  /// all fields are repeated: concatenating messages of the channel joins them
  bool only_lists = false;
  /// Set for a raw channel: converts between CDR and the intermediate message, which `converter`
  /// converts to and from the other encodings. The two converters may belong to different ROS
  /// versions, whose types have other fields: the header of ROS 1 has a sequence number.
  const Converter* cdr = nullptr;

  /// As the functions of Converter, for messages of the channel.
  [[nodiscard]] Result<RawMessage> read(Form form, std::span<const std::byte> message,
                                        const Lend& lend, std::int64_t now_ns,
                                        const DecodeHint& within = {}) const;
  [[nodiscard]] Result<EncodedMessage> write(Form form, const RawMessage& message) const;
  /// True if a message of this size that is read `within` memory stays there, at least in part.
  [[nodiscard]] bool keeps(std::size_t size) const {
    return cdr != nullptr || (id.encoding == Encoding::attached && size >= Converter::kKept);
  }
};

/// The type of a raw channel: "cdr:std_msgs/msg/String" for "std_msgs/msg/String".
[[nodiscard]] TypeId raw_type(std::string_view ros2_name);
/// The inverse: "std_msgs/msg/String". Empty for the type of a channel that is not raw.
[[nodiscard]] std::string_view raw_name(std::string_view channel_type);

}  // namespace hyphos::gateway
