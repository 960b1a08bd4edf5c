#include "gateway/rosbridge/fragments.hpp"

#include <algorithm>
#include <utility>

#include "gateway/convert/json_sink.hpp"
#include "gateway/net/web_socket.hpp"
#include "gateway/rosbridge/json_text.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

// The cost of a piece besides its text. It is counted, so that empty pieces cannot evade the bound.
constexpr std::size_t kPieceCost = sizeof(std::optional<std::string>);

}  // namespace

void Fragments::forget(const std::string& id) {
  std::erase_if(messages_, [&](const Message& message) {
    if (message.id != id) return false;
    bytes_ -= message.bytes;
    return true;
  });
}

Result<std::optional<std::string>> Fragments::take(Request&& fragment) {
  using Maybe = std::optional<std::string>;
  if (fragment.id.empty()) return Error{Code::corrupt, "a fragment must have an 'id'", ""};
  if (fragment.total < 1 || fragment.total > kMaxPieces) {
    return Error{Code::corrupt, "'total' of a fragment must be 1 to 65536", ""};
  }
  if (fragment.num < 0 || fragment.num >= fragment.total) {
    return Error{Code::corrupt, "'num' of a fragment must be 0 to total - 1", ""};
  }
  auto at = std::ranges::find(messages_, fragment.id, &Message::id);
  const auto total = static_cast<std::size_t>(fragment.total);
  if (at != messages_.end() && at->pieces.size() != total) {
    forget(fragment.id);
    return Error{Code::corrupt, "the fragments of a message differ in their 'total'", ""};
  }
  const bool is_new = at == messages_.end();
  const std::size_t more = fragment.data.size() + (is_new ? total * kPieceCost : 0);
  const std::size_t of_message = is_new ? 0 : at->bytes - total * kPieceCost;
  if (of_message + fragment.data.size() > max_bytes_) {
    forget(fragment.id);
    return Error{Code::exhausted, "the fragments together are larger than --max-message allows",
                 ""};
  }
  if (is_new) {
    messages_.push_back({fragment.id, std::vector<Maybe>(total), total, 0});
  } else if (at != messages_.end() - 1) {
    Message moved = std::move(*at);  // the message in progress becomes the newest
    messages_.erase(at);
    messages_.push_back(std::move(moved));
  }
  while (messages_.size() > 1 &&
         (messages_.size() > kMaxMessages || bytes_ + more > 2 * max_bytes_)) {
    bytes_ -= messages_.front().bytes;
    messages_.pop_front();
    ++dropped_;
  }
  Message& message = messages_.back();
  Maybe& piece = message.pieces[static_cast<std::size_t>(fragment.num)];
  if (piece) return Maybe();  // duplicate piece
  piece = std::move(fragment.data);
  message.bytes += more;
  bytes_ += more;
  if (--message.missing > 0) return Maybe();

  std::string whole;
  whole.reserve(message.bytes + net::kPadding);
  for (const Maybe& part : message.pieces) whole += *part;
  bytes_ -= message.bytes;
  messages_.pop_back();
  return Maybe(std::move(whole));
}

Result<std::vector<std::string>> split(std::string_view text, std::size_t size,
                                       std::string_view id) {
  size = std::max<std::size_t>(size, 1);
  if (text.size() / size >= static_cast<std::size_t>(Fragments::kMaxPieces)) {
    return Error{Code::out_of_range,
                 "a message of " + std::to_string(text.size()) + " bytes would need more than " +
                     std::to_string(Fragments::kMaxPieces) + " fragments of " +
                     std::to_string(size),
                 ""};
  }
  std::vector<std::string_view> pieces;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = piece_end(text, from, size);
    pieces.push_back(text.substr(from, end - from));
    from = end;
  }
  std::vector<std::string> out;
  out.reserve(pieces.size());
  for (const std::string_view piece : pieces) {
    std::string one = R"({"op":"fragment","id":)";
    one.reserve(piece.size() + piece.size() / 8 + id.size() + 96);
    append_json_text(id, one);
    one += R"(,"data":)";
    append_json_text(piece, one);
    one += R"(,"num":)" + std::to_string(out.size()) + R"(,"total":)" +
           std::to_string(pieces.size()) + "}";
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace hyphos::gateway::rosbridge
