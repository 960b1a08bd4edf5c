#include "hyphos/policy.hpp"
#include "hyphos/result.hpp"

namespace hyphos {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::invalid_config:
      return "invalid_config";
    case Code::not_found:
      return "not_found";
    case Code::already_exists:
      return "already_exists";
    case Code::type_mismatch:
      return "type_mismatch";
    case Code::timeout:
      return "timeout";
    case Code::overloaded:
      return "overloaded";
    case Code::disconnected:
      return "disconnected";
    case Code::exhausted:
      return "exhausted";
    case Code::permission:
      return "permission";
    case Code::corrupt:
      return "corrupt";
    case Code::unsupported:
      return "unsupported";
    case Code::io:
      return "io";
    case Code::canceled:
      return "canceled";
    case Code::out_of_range:
      return "out_of_range";
    case Code::too_large:
      return "too_large";
  }
  return "unknown";
}

std::optional<Code> code_named(std::string_view word) {
  for (int code = 0; code <= static_cast<int>(kLastCode); ++code) {
    if (word == to_string(static_cast<Code>(code))) return static_cast<Code>(code);
  }
  return std::nullopt;
}

std::string_view advice(Code code) {
  switch (code) {
    case Code::invalid_config:
      return "correct the value or file that the message names";
    case Code::not_found:
      return "check the name or path in the message";
    case Code::already_exists:
      return "choose another name or endpoint, or stop the program that uses it";
    case Code::type_mismatch:
      return "build both sides with the same message type";
    case Code::timeout:
      return "retry, or allow more time";
    case Code::overloaded:
      return "retry later, publish less often, or raise the channel's depth";
    case Code::disconnected:
      return "wait for the peer to come back, or check that it runs";
    case Code::exhausted:
      return "free space (hyphos shm list, hyphos doctor), then retry";
    case Code::permission:
      return "run as the owner, or correct the permissions";
    case Code::corrupt:
      return "the data was discarded, check the sender's version";
    case Code::unsupported:
      return "use a build, kernel or option that supports it";
    case Code::io:
      return "see the message for the error of the operating system";
    case Code::canceled:
      return "repeat the call if it is still needed";
    case Code::out_of_range:
      return "use the range given in the message, or wait until it is reached";
    case Code::too_large:
      return "send the message in parts, or raise the limit that the log names";
  }
  return "";
}

std::string Error::to_string() const {
  std::string text;
  if (!where.empty()) text += where + ": ";
  text += message;
  text += " [";
  text += hyphos::to_string(code);
  text += ']';
  return text;
}

std::string_view to_string(Reliability value) {
  return value == Reliability::reliable ? "reliable" : "best_effort";
}

std::string_view to_string(Overflow value) {
  switch (value) {
    case Overflow::drop_oldest:
      return "drop_oldest";
    case Overflow::drop_newest:
      return "drop_newest";
    case Overflow::block:
      return "block";
  }
  return "unknown";
}

std::string_view to_string(Mode value) {
  switch (value) {
    case Mode::serial:
      return "serial";
    case Mode::concurrent:
      return "concurrent";
    case Mode::inline_:
      return "inline";
  }
  return "unknown";
}

std::string_view to_string(Where value) {
  switch (value) {
    case Where::nowhere:
      return "nowhere";
    case Where::inside:
      return "inside";
    case Where::outside:
      return "outside";
    case Where::both:
      return "both";
  }
  return "unknown";
}
std::string_view to_string(Priority value) {
  switch (value) {
    case Priority::low:
      return "low";
    case Priority::normal:
      return "normal";
    case Priority::high:
      return "high";
  }
  return "unknown";
}

std::string_view to_string(Unmatched value) {
  switch (value) {
    case Unmatched::queue_full:
      return "queue_full";
    case Unmatched::too_far_apart:
      return "too_far_apart";
    case Unmatched::superseded:
      return "superseded";
    case Unmatched::after_loss:
      return "after_loss";
    case Unmatched::incomplete:
      return "incomplete";
    case Unmatched::repeated:
      return "repeated";
    case Unmatched::clock_jump:
      return "clock_jump";
    case Unmatched::closed:
      return "closed";
  }
  return "unknown";
}

}  // namespace hyphos
