#include "gateway/ros1/reply_reader.hpp"

#include "gateway/ros1/header.hpp"

namespace hyphos::gateway::ros1 {
namespace {

constexpr std::size_t kHead = 5;
constexpr std::byte kOk{1};

}  // namespace

std::optional<std::size_t> ReplyReader::whole() const {
  if (bytes_.size() < kHead) return std::nullopt;
  return kHead + read_length(std::span(bytes_).subspan(1));
}

Result<bool> ReplyReader::take(std::span<const std::byte> bytes) {
  if (bytes_.size() + bytes.size() > most_ + kHead) {
    return Error{Code::overloaded, "the reply has more than " + std::to_string(most_) + " bytes",
                 ""};
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  return whole() == bytes_.size();
}

Result<Buffer> ReplyReader::finish() {
  std::vector<std::byte> bytes = std::move(bytes_);
  bytes_ = {};
  if (bytes.empty())
    return Error{Code::disconnected, "the server closed the connection without a reply", ""};
  const bool ok = bytes[0] == kOk;
  const bool framed =
      bytes.size() >= kHead && kHead + read_length(std::span(bytes).subspan(1)) == bytes.size();
  if (!ok && !framed)
    return Error{Code::corrupt, "the server closed the connection in the middle of a reply", ""};
  const Buffer all = Buffer::adopt(std::move(bytes));
  const std::size_t head = framed ? kHead : 1;
  const Buffer body = all.slice(head, all.size() - head);
  if (!ok) return Error{Code::io, "the server refused the call: " + std::string(body.text()), ""};
  return body;
}

}  // namespace hyphos::gateway::ros1
