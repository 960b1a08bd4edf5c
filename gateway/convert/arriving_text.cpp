#include "gateway/convert/arriving_text.hpp"

#include <algorithm>
#include <utility>

#include "gateway/convert/base64.hpp"
#include "gateway/convert/long_texts.hpp"

namespace hyphos::gateway {
namespace {

constexpr std::size_t kFour = 4;  // characters for three bytes

}  // namespace

void ArrivingText::more(std::string_view text, std::size_t size, const Lend& lend) {
  if (phase_ == Phase::begin) look_for_object(text);
  while (phase_ != Phase::over && at_ < text.size()) {
    if (phase_ == Phase::between) look_for_string(text);
    if (phase_ == Phase::inside) look_for_end(text, size, lend);
    if (phase_ == Phase::decoding) decode(text);
  }
}

// A binary frame may hold another format.
void ArrivingText::look_for_object(std::string_view text) {
  constexpr std::string_view kBefore = " \t\r\n\xef\xbb\xbf";  // blanks and a byte order mark
  at_ = text.find_first_not_of(kBefore);
  if (at_ == text.npos) {
    at_ = text.size();
  } else if (text[at_] == '{') {
    phase_ = Phase::between;
  } else {
    give_up();
  }
}

void ArrivingText::look_for_string(std::string_view text) {
  at_ = text.find('"', at_);
  if (at_ == text.npos) {
    at_ = text.size();
    return;
  }
  if (++strings_ > kMostStrings) return give_up();
  begin_ = ++at_;
  phase_ = Phase::inside;
}

void ArrivingText::look_for_end(std::string_view text, std::size_t size, const Lend& lend) {
  const std::size_t quote = text.find('"', at_);
  if (quote != text.npos) {
    at_ = quote + 1;
    if (!is_escaped(text, begin_, quote)) phase_ = Phase::between;
    return;
  }
  at_ = text.size();
  if (at_ - begin_ < long_from_) return;
  if (!looks_like_base64(text.substr(begin_))) return give_up();
  memory_ = lend((size - begin_) / kFour * 3 + 3);
  if (memory_.empty()) return give_up();
  decoded_ = 0;
  phase_ = Phase::decoding;
  at_ = begin_;
}

void ArrivingText::decode(std::string_view text) {
  const std::size_t quote = text.find('"', std::max(at_, begin_ + decoded_));
  const bool ends = quote != text.npos;
  at_ = ends ? quote + 1 : text.size();
  std::string_view rest = text.substr(begin_ + decoded_, (ends ? quote : at_) - begin_ - decoded_);
  // The last four characters may be padded. They are known only at the end of the string.
  if (!ends) rest = rest.substr(0, rest.size() < 2 * kFour ? 0 : (rest.size() / kFour - 1) * kFour);
  if (!ends && rest.ends_with('=')) return give_up();
  if (!decode_base64(rest, memory_.data() + decoded_ / kFour * 3)) return give_up();
  if (!ends) {
    decoded_ += rest.size();
    return;
  }
  const std::size_t bytes = decoded_ / kFour * 3 + base64_size(rest);
  // The text after this string is longer: the memory would be mostly unused.
  if (bytes < memory_.size() / 2) return give_up();
  done_ = {text.substr(begin_, quote - begin_), std::move(memory_).freeze(bytes)};
  phase_ = Phase::over;
}

void ArrivingText::give_up() {
  memory_ = {};
  phase_ = Phase::over;
}

std::optional<DecodedText> ArrivingText::take() {
  std::optional<DecodedText> done = std::exchange(done_, std::nullopt);
  *this = ArrivingText(long_from_);
  return done;
}

}  // namespace hyphos::gateway
