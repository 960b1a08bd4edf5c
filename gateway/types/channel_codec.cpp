#include "gateway/types/channel_codec.hpp"

#include <algorithm>
#include <utility>

namespace hyphos::gateway {

namespace {

constexpr std::string_view kRaw = "cdr:";
constexpr std::size_t kEncapsulation = 4;

/// RTPS 2.5, 10.2.1.2: CDR_BE and CDR_LE. Other identifiers are not XCDR1 or do not occur in ROS
/// types.
Result<void> check(std::span<const std::byte> message, const std::string& type) {
  if (message.size() < kEncapsulation) {
    return Error{Code::corrupt, "the CDR message is shorter than its 4-byte encapsulation header",
                 type};
  }
  if (message[0] != std::byte{0} || message[1] > std::byte{1}) {
    return Error{Code::corrupt, "the CDR message is not in XCDR1, the only supported CDR version",
                 type};
  }
  return {};
}

WritableBuffer on_heap(std::size_t size) { return WritableBuffer::on_heap(size); }

}  // namespace

TypeId raw_type(std::string_view ros2_name) {
  return make_type_id(std::string(kRaw) + std::string(ros2_name), Encoding::bytes);
}

std::string_view raw_name(std::string_view channel_type) {
  return channel_type.starts_with(kRaw) ? channel_type.substr(kRaw.size()) : std::string_view();
}

Result<RawMessage> ChannelCodec::read(Form form, std::span<const std::byte> message,
                                      const Lend& lend, std::int64_t now_ns,
                                      const DecodeHint& within) const {
  if (cdr == nullptr) return converter.read(form, message, lend, now_ns, within);
  RawMessage made;
  if (form == Form::cdr) {
    if (auto checked = check(message, id.name); !checked) return checked.error();
    if (const Buffer& memory = within.memory; !memory.empty()) {
      const auto offset = static_cast<std::size_t>(message.data() - memory.data());
      made.payload = memory.slice(offset, message.size());
      return made;
    }
    WritableBuffer memory = lend(message.size());
    std::ranges::copy(message, memory.data());
    made.payload = std::move(memory).freeze(message.size());
    return made;
  }
  const auto between = converter.read(form, message, &on_heap, now_ns, within);
  if (!between) return between.error();
  const auto written = cdr->write(Form::cdr, *between);
  if (!written) return written.error();
  WritableBuffer memory = lend(written->size());
  std::byte* to = memory.data();
  for (const auto part : written->parts()) to = std::ranges::copy(part, to).out;
  made.payload = std::move(memory).freeze(written->size());
  return made;
}

Result<EncodedMessage> ChannelCodec::write(Form form, const RawMessage& message) const {
  if (cdr == nullptr) return converter.write(form, message);
  const Buffer& bytes = message.payload;
  if (form == Form::cdr) {
    if (auto checked = check(bytes.bytes(), id.name); !checked) return checked.error();
    // The body is passed as an array, because it stays in the memory of the channel.
    return EncodedMessage(bytes.slice(0, kEncapsulation),
                          bytes.slice(kEncapsulation, bytes.size() - kEncapsulation), {});
  }
  const auto between = cdr->read(Form::cdr, bytes.bytes(), &on_heap, 0, bytes);
  if (!between) return between.error();
  return converter.write(form, *between);
}

}  // namespace hyphos::gateway
