#include "gateway/rosbridge/long_message.hpp"

#include "gateway/convert/long_texts.hpp"

namespace hyphos::gateway::rosbridge {
namespace {

/// Walks through the members of one object. Each function returns false or an empty view for
/// unexpected input, or if the work is not worthwhile.
class Walk {
 public:
  Walk(std::string_view json, const DecodedText* decoded) : json_(json), decoded_(decoded) {}

  bool take(char wanted) {
    skip_space();
    if (at_ >= json_.size() || json_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  /// A string without escapes, or an empty one.
  std::string_view key() {
    skip_space();
    const std::string_view key = string();
    return key.find('\\') == std::string_view::npos ? key : std::string_view();
  }
  /// Empty if its end is out of reach.
  std::string_view value() {
    skip_space();
    const std::size_t begin = at_;
    plain_ = true;
    int depth = 0;
    do {
      if (at_ >= json_.size() || ++steps_ > kMostSteps) return {};
      const char next = json_[at_];
      if (next == '"') {
        if (string().data() == nullptr) return {};
        continue;
      }
      if (next == '{' || next == '[') ++depth;
      if (next == '}' || next == ']') --depth;
      if (depth < 0) return {};
      if (next == 'N' || next == 'I') plain_ = false;
      ++at_;
    } while (depth > 0 || (is_word(json_[begin]) && !ends_word()));
    return json_.substr(begin, at_ - begin);
  }
  /// Describes the last value.
  [[nodiscard]] bool plain() const { return plain_; }
  bool at_end() {
    skip_space();
    return at_ == json_.size();
  }

 private:
  /// Maximum number of characters outside of strings that are examined one by one.
  static constexpr std::size_t kMostSteps = 4096;

  void skip_space() {
    constexpr std::string_view kSpace = " \t\r\n";
    while (at_ < json_.size() && kSpace.find(json_[at_]) != std::string_view::npos) ++at_;
  }
  /// True at the start of a number, true, false or null.
  static bool is_word(char first) { return first != '"' && first != '{' && first != '['; }
  [[nodiscard]] bool ends_word() const {
    constexpr std::string_view kEnds = ",}] \t\r\n";
    return at_ >= json_.size() || kEnds.find(json_[at_]) != std::string_view::npos;
  }
  /// The content between the quotes.
  std::string_view string() {
    if (at_ >= json_.size() || json_[at_] != '"') return {};
    const std::size_t begin = at_;
    at_ = end_of_string(json_, begin, decoded_);
    if (at_ - begin < 2 || json_[at_ - 1] != '"') return {};
    return json_.substr(begin + 1, at_ - begin - 2);
  }

  std::string_view json_;
  const DecodedText* decoded_;
  std::size_t at_ = 0;
  std::size_t steps_ = 0;
  bool plain_ = true;
};

}  // namespace

std::optional<LongMessage> long_message(std::string_view json, const DecodedText* decoded) {
  if (json.size() < kLongMessage) return std::nullopt;
  Walk walk(json, decoded);
  std::optional<LongMessage> found;
  if (!walk.take('{')) return std::nullopt;
  do {
    const std::string_view key = walk.key();
    if (key.empty() || !walk.take(':')) return std::nullopt;
    const std::string_view value = walk.value();
    if (value.empty()) return std::nullopt;
    if (key != "msg") continue;
    if (found || !value.starts_with('{') || !value.ends_with('}')) return std::nullopt;
    found = {value, walk.plain()};
  } while (walk.take(','));
  if (!walk.take('}') || !walk.at_end() || !found || found->text.size() < kLongMessage) {
    return std::nullopt;
  }
  return found;
}

}  // namespace hyphos::gateway::rosbridge
