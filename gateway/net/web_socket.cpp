#include "gateway/net/web_socket.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <utility>

namespace hyphos::gateway::net {
namespace {

// The memory of a message above this size is freed when the next message arrives.
constexpr std::size_t kKept = std::size_t{16} << 20;

Error corrupt(std::string message) { return {Code::corrupt, std::move(message), "WebSocket"}; }

std::uint64_t read_big_endian(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::to_integer<std::uint64_t>(byte);
  return value;
}

bool is_known(unsigned opcode) { return opcode <= 2 || (opcode >= 8 && opcode <= 10); }

}  // namespace

Result<std::optional<FrameHead>> parse_frame_head(std::span<const std::byte> bytes) {
  using Maybe = std::optional<FrameHead>;
  if (bytes.size() < 2) return Maybe();
  const auto first = std::to_integer<unsigned>(bytes[0]);
  const auto second = std::to_integer<unsigned>(bytes[1]);
  if ((first & 0x70U) != 0)
    return corrupt("a frame has reserved bits without a negotiated extension");
  if (!is_known(first & 0x0fU)) {
    return corrupt("a frame has the unknown opcode " + std::to_string(first & 0x0fU));
  }
  if ((second & 0x80U) == 0) return corrupt("a client's frame is not masked");

  FrameHead head;
  head.opcode = static_cast<Opcode>(first & 0x0fU);
  head.last = (first & 0x80U) != 0;
  head.size = second & 0x7fU;
  const std::size_t more = head.size == 126 ? 2 : head.size == 127 ? 8 : 0;
  if (is_control(head.opcode) && (more != 0 || !head.last)) {
    return corrupt("a control frame is longer than 125 bytes or in pieces");
  }
  head.head_size = 2 + more + head.mask.size();
  if (bytes.size() < head.head_size) return Maybe();
  if (more != 0) head.size = read_big_endian(bytes.subspan(2, more));
  if (head.size >> 63 != 0) return corrupt("the length of a frame has its top bit set");
  std::ranges::copy(bytes.subspan(2 + more, head.mask.size()), head.mask.begin());
  return Maybe(head);
}

std::size_t write_frame_head(std::span<std::byte, kMaxServerHead> out, Opcode opcode,
                             std::uint64_t size) {
  out[0] = static_cast<std::byte>(0x80U | static_cast<unsigned>(opcode));
  const std::size_t more = size < 126 ? 0 : size < 65536 ? 2 : 8;
  out[1] = static_cast<std::byte>(more == 0 ? size : more == 2 ? 126 : 127);
  for (std::size_t i = 0; i < more; ++i) {
    out[2 + i] = static_cast<std::byte>(size >> 8 * (more - 1 - i));
  }
  return 2 + more;
}

void copy_unmasked(std::span<const std::byte> payload, Mask mask, std::byte* to) {
  // One register on all supported machines. For an array of words, GCC goes through the stack,
  // which takes twice as long.
  using Wide = std::uint32_t __attribute__((vector_size(16)));
  constexpr std::size_t kAtOnce = 4;
  const auto word = std::bit_cast<std::uint32_t>(mask);
  const Wide key = {word, word, word, word};
  std::size_t at = 0;
  for (; at + kAtOnce * sizeof key <= payload.size(); at += kAtOnce * sizeof key) {
    for (std::size_t i = 0; i < kAtOnce; ++i) {
      Wide part;
      std::memcpy(&part, payload.data() + at + i * sizeof part, sizeof part);
      part ^= key;
      std::memcpy(to + at + i * sizeof part, &part, sizeof part);
    }
  }
  for (; at < payload.size(); ++at) to[at] = payload[at] ^ mask[at % mask.size()];
}

Mask mask_behind(Mask mask, std::size_t size) {
  std::ranges::rotate(mask, mask.begin() + static_cast<std::ptrdiff_t>(size % mask.size()));
  return mask;
}

MessageJoiner::~MessageJoiner() { std::free(message_); }

Result<void> MessageJoiner::admit(const FrameHead& head) const {
  if (in_message_ != (head.opcode == Opcode::continuation)) {
    return corrupt(in_message_ ? "a message begins inside another message"
                               : "a continuation frame has no message to continue");
  }
  if (head.size > max_message_ - size_) {
    return Error{Code::exhausted,
                 "a message is larger than the limit of " + std::to_string(max_message_) +
                     " bytes. Raise --max-message",
                 "WebSocket"};
  }
  return success();
}

std::optional<MessageJoiner::Message> MessageJoiner::join(const FrameHead& head,
                                                          std::span<const std::byte> payload) {
  if (!in_message_) kind_ = head.opcode;
  if (!in_message_ && capacity_ > kKept) {
    std::free(std::exchange(message_, nullptr));
    capacity_ = 0;
  }
  reserve(size_ + payload.size());
  copy_unmasked(payload, head.mask, message_ + size_);
  size_ += payload.size();
  in_message_ = !head.last;
  if (in_message_) return std::nullopt;
  const std::size_t size = std::exchange(size_, 0);
  std::memset(message_ + size, 0, kPadding);
  return Message{kind_, {message_, size}};
}

// The first piece gets exactly the memory it needs. Further pieces double it, so that a message of
// many small pieces is copied at most twice.
void MessageJoiner::reserve(std::size_t size) {
  if (size + kPadding <= capacity_) return;
  const std::size_t wanted = size_ == 0 ? size : std::max(size, std::min(size_ * 2, max_message_));
  void* grown = std::realloc(message_, wanted + kPadding);
  if (grown == nullptr) throw std::bad_alloc();
  message_ = static_cast<std::byte*>(grown);
  capacity_ = wanted + kPadding;
}

}  // namespace hyphos::gateway::net
