#include "cosim/core/trace.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

namespace hyphos::cosim {
namespace {

constexpr std::size_t kFlushAt = 1 << 16;

void append(std::string& line, std::int64_t value, int base = 10) {
  std::array<char, 24> digits{};
  const auto end = base == 16 ? std::to_chars(digits.data(), digits.data() + digits.size(),
                                              static_cast<std::uint64_t>(value), base)
                              : std::to_chars(digits.data(), digits.data() + digits.size(), value);
  line.append(digits.data(), end.ptr);
}

void append_node(std::string& line, NodeId node) {
  if (node == kEveryone) {
    line += "everyone";
  } else {
    append(line, node);
  }
}

}  // namespace

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t start) {
  std::uint64_t hash = start;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
  }
  return hash;
}

void Trace::send(const Packet& packet) {
  append(line_, packet.stamp.ns);
  line_ += " send ";
  append(line_, static_cast<std::int64_t>(packet.id));
  line_ += " from ";
  append(line_, packet.from);
  line_ += " to ";
  append_node(line_, packet.to);
  line_ += " bytes ";
  append(line_, static_cast<std::int64_t>(packet.bytes.size()));
  line_ += " hash ";
  append(line_, static_cast<std::int64_t>(hash_bytes(packet.bytes.bytes())), 16);
  end_line();
}

void Trace::outcome(const Outcome& outcome, Time read) {
  append(line_, outcome.time.ns);
  line_ += outcome.fate == Fate::delivered ? " delivered " : " dropped ";
  append(line_, static_cast<std::int64_t>(outcome.id));
  line_ += " to ";
  append_node(line_, outcome.to);
  if (outcome.fate == Fate::delivered) {
    line_ += " read ";
    append(line_, read.ns);
  } else {
    line_ += ' ';
    line_ += to_string(outcome.reason);
    if (outcome.to == kEveryone) {
      line_ += " copies ";
      append(line_, outcome.copies);
    }
  }
  end_line();
}

void Trace::end_line() {
  line_ += '\n';
  hash_ = hash_bytes(std::as_bytes(std::span(line_)), hash_);
  if (keeps_ || file_ != nullptr) text_ += line_;
  line_.clear();
  ++lines_;
  // flush() reports write errors. Every run ends with a call of flush().
  if (file_ != nullptr && text_.size() >= kFlushAt) {
    std::fwrite(text_.data(), 1, text_.size(), file_);
    text_.clear();
  }
}

Result<void> Trace::flush() {
  if (file_ == nullptr) return success();
  std::fwrite(text_.data(), 1, text_.size(), file_);
  text_.clear();
  if (std::fflush(file_) != 0 || std::ferror(file_) != 0) {
    return Error{Code::io, std::string("cannot write the trace: ") + std::strerror(errno), ""};
  }
  return success();
}

}  // namespace hyphos::cosim
