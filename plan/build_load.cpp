#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "plan/build.hpp"

namespace hyphos::plan {
namespace {

constexpr double kMaxRate = 1e6;
constexpr double kMaxWorkUs = 60e6;
constexpr std::int64_t kMaxSize = 1LL << 30;
constexpr std::int64_t kMaxEvery = 1'000'000;

/// "64 KB" → 65536. A plain number is in bytes. Units are powers of 1024.
bool read_size(std::string_view text, std::int64_t& bytes) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> kUnits{
      {{"", 1}, {"B", 1}, {"KB", 1 << 10}, {"MB", 1 << 20}}};
  const std::size_t digits = text.find_first_not_of("0123456789.");
  std::string_view unit = digits == std::string_view::npos ? "" : text.substr(digits);
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  Value number;
  number.kind = Value::Kind::scalar;
  number.text = std::string(text.substr(0, digits));
  double value = 0;
  if (!read_real(number, value)) return false;
  for (const auto& [name, factor] : kUnits) {
    const auto alike = [](char a, char b) { return a == std::toupper(b); };
    if (!std::equal(name.begin(), name.end(), unit.begin(), unit.end(), alike)) continue;
    bytes = std::llround(value * static_cast<double>(factor));
    return true;
  }
  return false;
}

void read_channel_load(const Value& value, ChannelPlan& channel, Draft& draft) {
  const Section section(&value, "channels." + channel.name + ".load", draft.problems,
                        {"rate_hz", "after", "every", "size", "work_us"});
  ChannelLoad& load = channel.load.emplace();
  load.rate_hz = section.real("rate_hz", 0, 0, kMaxRate);
  load.after = section.text("after", "");
  load.every = section.integer("every", 1, 1, kMaxEvery);
  load.work_us = section.real("work_us", 0, 0, kMaxWorkUs);
  if ((load.rate_hz > 0) == !load.after.empty()) {
    section.error(section.has("after") ? "after" : "rate_hz",
                  "expected either rate_hz, or after: a channel whose messages "
                  "trigger these");
  }
  if (section.has("every") && load.after.empty()) {
    section.error("every", "has no effect without `after`");
  }
  const std::string size = section.text("size", "");
  if (!read_size(size, load.size_bytes) || load.size_bytes < 0 || load.size_bytes > kMaxSize) {
    section.error("size", size.empty()
                              ? "missing: write the bytes of one message, as in 64 KB"
                              : "'" + size + "' is not a size up to 1024 MB, such as 64 KB");
  }
  if (!load.after.empty() && draft.channel(load.after) == nullptr) {
    section.error("after",
                  "unknown channel '" + load.after + "'" +
                      suggestion(draft.problems, load.after, "channels", draft.channel_names()));
  }
}

void read_node_load(const Value& value, NodePlan& node, Draft& draft) {
  const std::string path = "nodes." + node.name + ".load";
  const Section section(&value, path, draft.problems, {"work_us"});
  const Value* work = section.find("work_us");
  if (work == nullptr || !work->is(Value::Kind::map)) {
    node.load.work_us = section.real("work_us", 0, 0, kMaxWorkUs);
    return;
  }
  for (const Entry& entry : named_entries(work, path + ".work_us", kMaxChannels, draft.problems)) {
    double work_us = 0;
    if (draft.channel(entry.key) == nullptr) {
      draft.error(entry.source,
                  path + ".work_us: unknown channel '" + entry.key + "'" +
                      suggestion(draft.problems, entry.key, "channels", draft.channel_names()));
    } else if (!read_real(entry.value, work_us) || work_us < 0 || work_us > kMaxWorkUs) {
      draft.error(entry.value.source, path + ".work_us." + entry.key +
                                          ": expected microseconds from 0 to 60000000, found " +
                                          describe(entry.value));
    } else {
      node.load.work_us_of.emplace_back(entry.key, work_us);
    }
  }
}

/// If a channel is published `after` another one, each of its publishers must subscribe to that
/// one.
void check_answers(const ChannelPlan& channel, Draft& draft) {
  if (!channel.load || channel.load->after.empty()) return;
  const ChannelPlan* cause = draft.channel(channel.load->after);
  if (cause == nullptr || !cause->subscribers || !channel.publishers) return;
  for (const std::string& node : *channel.publishers) {
    const auto& hearers = *cause->subscribers;
    if (std::find(hearers.begin(), hearers.end(), node) != hearers.end()) continue;
    draft.error(to_source(channel.source), "channels." + channel.name + ".load.after: node '" +
                                               node + "' publishes it, but does not subscribe to " +
                                               cause->name);
  }
}

/// A chain of `after` must begin with a rate_hz. `sound` contains the checked channels, so that
/// each is checked once.
void check_origin(const ChannelPlan& channel, std::unordered_set<std::string>& sound,
                  Draft& draft) {
  std::unordered_set<std::string> passed;
  for (const ChannelPlan* at = &channel; at != nullptr && at->load && !at->load->after.empty();
       at = draft.channel(at->load->after)) {
    if (sound.count(at->name) > 0) break;
    if (passed.insert(at->name).second) continue;
    return draft.error(
        to_source(channel.source),
        "channels." + channel.name +
            ".load.after: the channels trigger each other in a cycle, so one of them "
            "needs a rate_hz");
  }
  sound.merge(passed);
}

}  // namespace

void read_loads(const Value* channels, const Value* nodes, Draft& draft) {
  const auto load_of = [](const Value* section, const std::string& name) {
    const Value* entry = section == nullptr ? nullptr : section->find(name);
    return entry == nullptr ? nullptr : entry->find("load");
  };
  for (ChannelPlan& channel : draft.plan.channels) {
    if (const Value* load = load_of(channels, channel.name)) {
      read_channel_load(*load, channel, draft);
    }
  }
  for (NodePlan& node : draft.plan.nodes) {
    if (const Value* load = load_of(nodes, node.name)) read_node_load(*load, node, draft);
  }
  std::unordered_set<std::string> sound;
  for (const ChannelPlan& channel : draft.plan.channels) {
    check_answers(channel, draft);
    check_origin(channel, sound, draft);
  }
}

}  // namespace hyphos::plan

namespace hyphos {

double NodeLoad::work_us_for(const std::string& channel) const {
  const auto own = std::find_if(work_us_of.begin(), work_us_of.end(),
                                [&](const auto& entry) { return entry.first == channel; });
  return own == work_us_of.end() ? work_us : own->second;
}

}  // namespace hyphos
