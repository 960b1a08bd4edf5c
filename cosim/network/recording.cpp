#include "cosim/network/recording.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

namespace hyphos::cosim {
namespace {

constexpr std::int64_t kMostNs = std::int64_t{1} << 60;  // 36 years
constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(kBlanks) + 1));
  return text;
}

std::vector<std::string_view> split(std::string_view line, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = line.find(at);
    parts.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    line.remove_prefix(end + 1);
  }
}

template <typename T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Converts "12.25" milliseconds to nanoseconds exactly: no time passes through a double.
std::optional<std::int64_t> ms_to_ns(std::string_view text) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  const auto whole = number<std::uint64_t>(text.substr(0, dot));
  std::string_view part = text.substr(std::min(dot + 1, text.size()));
  if (!whole || *whole > static_cast<std::uint64_t>(kMostNs) / 1'000'000 || part.size() > 6 ||
      (dot < text.size() && part.empty())) {
    return std::nullopt;
  }
  std::int64_t ns = 0;
  if (!part.empty()) {
    const auto digits = number<std::uint32_t>(part);
    if (!digits) return std::nullopt;
    ns = *digits;
    for (std::size_t i = part.size(); i < 6; ++i) ns *= 10;
  }
  return static_cast<std::int64_t>(*whole) * 1'000'000 + ns;
}

std::optional<DropReason> reason_of(std::string_view text) {
  for (std::size_t i = 1; i < kDropReasons; ++i) {
    if (text == to_string(static_cast<DropReason>(i))) return static_cast<DropReason>(i);
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 6> kColumns{"time_ms",  "from", "to",
                                                   "delay_ms", "loss", "outcome"};
enum Column : std::size_t { kTime, kFrom, kTo, kDelay, kLoss, kOutcome };

}  // namespace

/// One pass over the lines of either format.
class RecordingReader {
 public:
  RecordingReader(std::string_view text, const std::string& file,
                  std::span<const std::string> names)
      : left_(text), file_(file), names_(names) {
    made_.nodes_ = static_cast<std::uint32_t>(names.size());
  }

  Result<Recording> read() {
    if (!next()) return bad("the file has no lines");
    const bool trace = line_.find(',') == std::string_view::npos;
    auto read = trace ? read_trace() : read_table();
    if (!read) return read.error();
    if (made_.links_.empty()) return bad("the file has no packets");
    for (auto& [key, entries] : made_.links_) {
      std::ranges::stable_sort(entries, {}, &Recording::Entry::time);
    }
    return std::move(made_);
  }

 private:
  struct Sent {
    Time time;
    NodeId from = 0;
    NodeId to = 0;
    std::uint32_t open = 0;
    std::vector<bool> settled{};
    std::vector<std::size_t> places{};  // index of the entry of each receiver, in its link
    // Outcomes of copies with unnamed receivers, until the named receivers are known.
    std::vector<std::pair<Recording::Entry, std::uint32_t>> groups{};
    std::uint32_t grouped = 0;
  };

  Error bad(const std::string& what) const {
    return {Code::invalid_config, what, file_ + ":" + std::to_string(number_)};
  }
  static std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

  /// Reads the next line that is neither empty nor a comment.
  bool next() {
    while (!left_.empty()) {
      const std::size_t end = std::min(left_.find('\n'), left_.size());
      line_ = left_.substr(0, end);
      left_.remove_prefix(std::min(end + 1, left_.size()));
      ++number_;
      line_ = trimmed(line_.substr(0, line_.find('#')));
      if (!line_.empty()) return true;
    }
    return false;
  }

  Result<NodeId> named_node(std::string_view text) const {
    const auto named = std::ranges::find(names_, text);
    return named != names_.end() ? static_cast<NodeId>(named - names_.begin()) : node(text);
  }

  Result<NodeId> node(std::string_view text) const {
    const auto numbered = number<NodeId>(text);
    if (numbered && *numbered < names_.size()) return *numbered;
    return bad("unknown node " + quoted(text) + ": there are " + std::to_string(names_.size()) +
               " nodes, numbered from 0");
  }

  Result<void> read_table() {
    std::array<std::size_t, kColumns.size()> place{};
    const auto titles = split(line_, ',');
    for (std::size_t i = 0; i < titles.size(); ++i) {
      const auto known = std::ranges::find(kColumns, titles[i]);
      if (known == kColumns.end()) {
        return bad("unknown column " + quoted(titles[i]) +
                   ": the columns are time_ms, from, to, delay_ms, and loss or outcome");
      }
      std::size_t& at = place[static_cast<std::size_t>(known - kColumns.begin())];
      if (at != 0) return bad("column " + quoted(titles[i]) + " appears twice");
      at = i + 1;
    }
    for (const Column column : {kTime, kFrom, kTo, kDelay}) {
      if (place[column] == 0) return bad("column " + quoted(kColumns[column]) + " is missing");
    }
    if ((place[kLoss] == 0) == (place[kOutcome] == 0)) {
      return bad("the table needs exactly one of the columns 'loss' and 'outcome'");
    }
    while (next()) {
      const auto cells = split(line_, ',');
      if (cells.size() != titles.size()) {
        return bad(std::to_string(cells.size()) + " values for " + std::to_string(titles.size()) +
                   " columns");
      }
      const auto cell = [&](Column column) {
        return place[column] == 0 ? std::string_view{} : cells[place[column] - 1];
      };
      if (auto taken = read_row(cell); !taken) return taken;
    }
    return success();
  }

  template <typename Cell>
  Result<void> read_row(const Cell& cell) {
    Recording::Entry entry;
    const auto time = ms_to_ns(cell(kTime));
    const auto delay = ms_to_ns(cell(kDelay));
    if (!time || !delay) {
      return bad(quoted(cell(time ? kDelay : kTime)) +
                 " is not a time: use milliseconds from 0, with at most 6 digits after the point");
    }
    entry.time = {*time};
    entry.delay = {*delay};
    std::array<NodeId, 2> ends{};
    for (const auto& [column, at] : {std::pair(kFrom, 0U), std::pair(kTo, 1U)}) {
      if (cell(column) == "*") {
        ends[at] = kEveryone;
        continue;
      }
      auto found = named_node(cell(column));
      if (!found) return found.error();
      ends[at] = *found;
    }
    if (ends[0] == ends[1] && ends[0] != kEveryone) return bad("a link from a node to itself");
    auto& entries = made_.links_[Recording::key(ends[0], ends[1])];
    if (!entries.empty() && entry.time < entries.back().time) {
      return bad("the time is before the time of the previous line of the same link");
    }
    if (const auto outcome = cell(kOutcome); !outcome.empty()) {
      const auto reason = reason_of(outcome);
      if (!reason && outcome != "delivered") {
        return bad(quoted(outcome) +
                   " is not an outcome: the outcomes are delivered, queue_full, out_of_range, "
                   "channel_error, collision, retry_limit or other");
      }
      entry.reason = reason.value_or(DropReason::none);
    } else {
      double loss = -1;
      const auto text = cell(kLoss);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), loss);
      if (error != std::errc{} || end != text.data() + text.size() || !(loss >= 0 && loss <= 1)) {
        return bad(text.empty() ? "an outcome is missing"
                                : quoted(text) + " is not a probability from 0 to 1");
      }
      if (!entries.empty() && entry.time == entries.back().time) {
        return bad("a second line for the same link and time");
      }
      entry.loss = loss;
    }
    entries.push_back(entry);
    return success();
  }

  Result<void> read_trace() {
    do {
      words_ = split(line_, ' ');
      const auto time = words_.size() > 2 ? number<std::int64_t>(words_[0]) : std::nullopt;
      if (!time || *time < 0 || *time > kMostNs) {
        return bad("neither a line of a trace nor a header line of a table");
      }
      auto taken = words_[1] == "send" ? read_send({*time}) : read_outcome({*time});
      if (!taken) return taken;
    } while (next());
    for (auto& [id, sent] : sent_) settle_groups(sent);
    return success();
  }

  /// "TIME send ID from A to B bytes N hash H"
  Result<void> read_send(Time time) {
    const auto id = number<PacketId>(words_[2]);
    if (words_.size() != 11 || words_[3] != "from" || words_[5] != "to" || !id) {
      return bad("not a send line of a trace: TIME send ID from A to B bytes N hash H");
    }
    auto from = node(words_[4]);
    if (!from) return from.error();
    Sent sent{.time = time, .from = *from, .to = kEveryone};
    if (words_[6] != "everyone") {
      auto to = node(words_[6]);
      if (!to) return to.error();
      sent.to = *to;
    }
    if (sent.from == sent.to) return bad("a packet from a node to itself");
    sent.settled.resize(names_.size());
    sent.places.resize(names_.size());
    for (NodeId node = 0; node < names_.size(); ++node) {
      if (node == sent.from || (sent.to != kEveryone && node != sent.to)) {
        sent.settled[node] = true;
        continue;
      }
      auto& entries = made_.links_[Recording::key(sent.from, node)];
      sent.places[node] = entries.size();
      entries.push_back({.time = time, .open = true});
      ++sent.open;
    }
    if (!sent_.emplace(*id, std::move(sent)).second) return bad("a second packet with this number");
    return success();
  }

  /// "TIME delivered ID to B read T", "TIME dropped ID to B REASON", "… to everyone REASON copies
  /// N"
  Result<void> read_outcome(Time time) {
    const auto id = number<PacketId>(words_[2]);
    const bool delivered = words_[1] == "delivered";
    const auto reason = words_.size() > 5 ? reason_of(words_[5]) : std::nullopt;
    if ((!delivered && words_[1] != "dropped") || words_.size() < 6 || words_[3] != "to" || !id ||
        (delivered ? words_[5] != "read" : !reason)) {
      return bad(
          "not an outcome line of a trace: TIME delivered ID to B read T, or TIME dropped ID to B "
          "REASON");
    }
    const auto found = sent_.find(*id);
    if (found == sent_.end()) return bad("packet " + std::string(words_[2]) + " is not in flight");
    Sent& sent = found->second;
    if (time < sent.time) return bad("the time is before the send of the packet");
    const Recording::Entry entry{
        sent.time, time - sent.time, 0, reason.value_or(DropReason::none), words_[4] == "everyone",
        false};
    if (!entry.grouped) {
      auto to = node(words_[4]);
      if (!to) return to.error();
      if (sent.settled[*to] || sent.open == sent.grouped) {
        return bad("no copy of this packet is expected at this node");
      }
      settle(sent, *to, entry);
    } else {
      const auto copies = words_.size() == 8 ? number<std::uint32_t>(words_[7]) : std::nullopt;
      if (delivered || sent.to != kEveryone || !copies || *copies == 0 ||
          *copies > sent.open - sent.grouped) {
        return bad("more copies to everyone than are expected");
      }
      sent.groups.emplace_back(entry, *copies);
      sent.grouped += *copies;
    }
    if (sent.open == sent.grouped) {
      settle_groups(sent);
      sent_.erase(found);
    }
    return success();
  }

  /// Assigns the grouped copies to the remaining receivers, in the order of numbers, because the
  /// trace does not name them.
  void settle_groups(Sent& sent) {
    NodeId node = 0;
    for (const auto& [entry, copies] : sent.groups) {
      for (std::uint32_t i = 0; i < copies; ++i) {
        while (sent.settled[node]) ++node;
        settle(sent, node, entry);
      }
    }
  }

  void settle(Sent& sent, NodeId to, const Recording::Entry& entry) {
    made_.links_[Recording::key(sent.from, to)][sent.places[to]] = entry;
    sent.settled[to] = true;
    --sent.open;
  }

  std::string_view left_;
  std::string_view line_;
  std::size_t number_ = 0;
  const std::string& file_;
  std::span<const std::string> names_;
  std::vector<std::string_view> words_;
  std::unordered_map<PacketId, Sent> sent_;  // packets that are not settled
  Recording made_;
};

Result<Recording> Recording::parse(std::string_view text, const std::string& file,
                                   std::span<const std::string> names) {
  return RecordingReader(text, file, names).read();
}

std::span<const Recording::Entry> Recording::link(NodeId from, NodeId to) const {
  for (const auto& [a, b] : {std::pair(from, to), std::pair(from, kEveryone),
                             std::pair(kEveryone, to), std::pair(kEveryone, kEveryone)}) {
    if (const auto found = links_.find(key(a, b)); found != links_.end()) return found->second;
  }
  return {};
}

}  // namespace hyphos::cosim
