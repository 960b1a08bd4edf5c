#include <algorithm>
#include <unordered_set>
#include <utility>

#include "plan/build.hpp"
#include "plan/names.hpp"
#include "plan/transports.hpp"

namespace hyphos::plan {
namespace {

constexpr std::int64_t kMaxDepth = 65536;

std::vector<std::string> read_ends(const Section& section, std::string_view key, Draft& draft) {
  std::vector<std::string> nodes;
  for (const Word& word : section.words(key)) {
    if (draft.plan.node(word.text) == nullptr) {
      draft.error(word.source,
                  section.path(key) + ": unknown node '" + word.text + "'" +
                      suggestion(draft.problems, word.text, "nodes", draft.node_names()));
    } else if (std::count(nodes.begin(), nodes.end(), word.text) > 0) {
      draft.error(word.source, section.path(key) + ": node '" + word.text + "' is listed twice");
    } else {
      nodes.push_back(word.text);
    }
  }
  return nodes;
}

Policy read_policy(const Section& section) {
  Policy policy;
  policy.reliability = section.choice(
      "reliability", policy.reliability,
      {{"best_effort", Reliability::best_effort}, {"reliable", Reliability::reliable}});
  const bool is_reliable = policy.reliability == Reliability::reliable;
  policy.overflow =
      section.choice("overflow", is_reliable ? Overflow::block : Overflow::drop_oldest,
                     {{"drop_oldest", Overflow::drop_oldest},
                      {"drop_newest", Overflow::drop_newest},
                      {"block", Overflow::block}});
  policy.priority = section.choice(
      "priority", policy.priority,
      {{"low", Priority::low}, {"normal", Priority::normal}, {"high", Priority::high}});
  policy.latched = section.boolean("latched", policy.latched);
  policy.depth = static_cast<std::uint32_t>(section.integer("depth", policy.depth, 1, kMaxDepth));
  policy.deadline_ms = section.integer("deadline_ms", 0, 0, kMaxMs);
  policy.block_timeout_ms = section.integer("block_timeout_ms", 0, 0, kMaxMs);
  policy.lifespan_ms = section.integer("lifespan_ms", 0, 0, kMaxMs);
  policy.latched_depth = static_cast<std::uint32_t>(
      section.integer("latched_depth", policy.latched_depth, 1, kMaxLatchedDepth));
  if (section.has("latched_depth") && !policy.latched) {
    section.error("latched_depth",
                  "has no effect without latched. Remove it, or write latched: true");
  }
  if (policy.overflow == Overflow::block && !is_reliable) {
    section.error("overflow",
                  "'block' contradicts reliability best_effort, which drops. Write "
                  "reliability: reliable, or overflow: drop_oldest");
  }
  if (policy.overflow != Overflow::block && policy.block_timeout_ms != 0) {
    section.error("block_timeout_ms", "has no effect with overflow " +
                                          std::string(to_string(policy.overflow)) +
                                          ". Remove it, or write overflow: block");
  }
  return policy;
}

std::vector<std::string_view> transport_words() {
  std::vector<std::string_view> words{kAutomaticTransport};
  for (const TransportTraits& each : transports()) words.push_back(each.name);
  return words;
}

}  // namespace

void read_transport(const Section& top, Draft& draft) {
  draft.transport = top.word_of("transport", kAutomaticTransport, transport_words());
}

std::vector<std::string_view> Draft::channel_names() const {
  std::vector<std::string_view> names;
  for (const ChannelPlan& channel : plan.channels) {
    if (!channel.internal) names.push_back(channel.name);
  }
  return names;
}

ChannelPlan* Draft::channel(const std::string& name) {
  const auto found = channel_index.find(name);
  return found == channel_index.end() ? nullptr : &plan.channels[found->second];
}

void Draft::add_channel(ChannelPlan channel) {
  channel_index.emplace(channel.name, plan.channels.size());
  plan.channels.push_back(std::move(channel));
}

ChannelPlan* Draft::refer_to_channel(const Word& word, const std::string& path) {
  if (ChannelPlan* known = channel(word.text)) return known;
  if (const std::string why = channel_name_problem(word.text); !why.empty()) {
    error(word.source, path + ": '" + word.text + "': " + why);
    return nullptr;
  }
  if (channels_declared) {
    error(word.source, path + ": unknown channel '" + word.text + "'" +
                           suggestion(problems, word.text, "channels", channel_names()));
    return nullptr;
  }
  if (plan.channels.size() >= kMaxChannels) {
    error(word.source, path + ": more than " + std::to_string(kMaxChannels) + " channels");
    return nullptr;
  }
  ChannelPlan implied;
  implied.name = word.text;
  implied.implied = true;
  implied.transport = transport;
  implied.source = to_line(word.source);
  add_channel(std::move(implied));
  return &plan.channels.back();
}

std::vector<std::string> Draft::refer_to_channels(const std::vector<Word>& words,
                                                  const std::string& path) {
  std::vector<std::string> names;
  std::unordered_set<std::string_view> seen;
  for (const Word& word : words) {
    if (!seen.insert(word.text).second) {
      error(word.source, path + ": channel '" + word.text + "' is listed twice");
    } else if (refer_to_channel(word, path) != nullptr) {
      names.push_back(word.text);
    }
  }
  return names;
}

void read_channels(const Value* value, Draft& draft) {
  draft.channels_declared = value != nullptr && !value->is(Value::Kind::null);
  for (const Entry& entry : named_entries(value, "channels", kMaxChannels, draft.problems)) {
    const std::string path = "channels." + entry.key;
    if (const std::string why = channel_name_problem(entry.key); !why.empty()) {
      draft.error(entry.source, "channels: '" + entry.key + "': " + why);
    }
    const Section section(&entry.value, path, draft.problems,
                          {"type", "reliability", "depth", "overflow", "latched", "latched_depth",
                           "deadline_ms", "lifespan_ms", "priority", "block_timeout_ms",
                           "transport", "scope", "open", "publishers", "subscribers", "load"});
    ChannelPlan channel;
    channel.name = entry.key;
    channel.source = to_line(entry.source);
    channel.type = section.text("type", "");
    if (section.has("type") && !type_problem(channel.type).empty()) {
      section.error("type", "'" + channel.type + "': " + type_problem(channel.type));
    } else if (is_unknown_standard_type(channel.type)) {
      section.error(
          "type", "unknown type '" + channel.type + "'" +
                      suggestion(draft.problems, channel.type, "standard types", standard_types()));
    }
    channel.policy = read_policy(section);
    channel.reach = section.choice(
        "scope", Reach::network,
        {{"local", Reach::local}, {"machine", Reach::machine}, {"network", Reach::network}});
    channel.open = section.choice("open", Where::both,
                                  {{"both", Where::both},
                                   {"inside", Where::inside},
                                   {"outside", Where::outside},
                                   {"nowhere", Where::nowhere}});
    const bool is_local = channel.reach == Reach::local;
    if (is_local && channel.open == Where::outside) {
      section.error("open",
                    "scope local keeps the channel inside the process. Write open: nowhere, or "
                    "remove scope");
    }
    channel.transport = section.word_of(
        "transport", is_local ? kAutomaticTransport : std::string_view(draft.transport),
        transport_words());
    if (is_local && channel.transport != kAutomaticTransport) {
      section.error("transport",
                    "has no effect with scope local, which stays in the process. "
                    "Remove it, or write scope: machine");
    }
    if (section.has("publishers")) channel.publishers = read_ends(section, "publishers", draft);
    if (section.has("subscribers")) channel.subscribers = read_ends(section, "subscribers", draft);
    draft.add_channel(std::move(channel));
  }
}

void read_remaps(const Value* nodes, Draft& draft) {
  for (NodePlan& node : draft.plan.nodes) {
    const Value* entry = nodes->find(node.name);
    const Value* remap = entry == nullptr ? nullptr : entry->find("remap");
    const std::string path = "nodes." + node.name + ".remap";
    for (const Entry& pair : named_entries(remap, path, kMaxChannels, draft.problems)) {
      if (const std::string why = channel_name_problem(pair.key); !why.empty()) {
        draft.error(pair.source, path + ": '" + pair.key + "': " + why);
      } else if (!pair.value.is(Value::Kind::scalar)) {
        draft.error(pair.value.source,
                    path + "." + pair.key + ": expected a channel, found " + describe(pair.value));
      } else if (draft.plan.call(pair.value.text, false) != nullptr ||
                 draft.plan.call(pair.value.text, true) != nullptr) {
        node.remap.emplace_back(pair.key, pair.value.text);
      } else if (draft.refer_to_channel({pair.value.text, pair.value.source},
                                        path + "." + pair.key) != nullptr) {
        node.remap.emplace_back(pair.key, pair.value.text);
      }
    }
  }
}

void read_data_graph(const Value* value, Draft& draft) {
  const Section section(value, "data_graph", draft.problems, {"close_channels"});
  const std::vector<std::string> names =
      draft.refer_to_channels(section.words("close_channels"), section.path("close_channels"));
  for (const std::string& name : names) {
    Where& open = draft.channel(name)->open;
    open = is_among(Where::outside, open) ? Where::outside : Where::nowhere;
  }
}

void read_record(const Value* value, Draft& draft) {
  const Section section(value, "record", draft.problems, {"channels", "path"});
  RecordPlan& record = draft.plan.record;
  record.enabled = value != nullptr;
  record.path = section.text("path", record.path);
  if (const std::string why = file_name_problem(record.path); !why.empty()) {
    section.error("path", why);
  }
  const Value* channels = section.find("channels");
  record.all = channels == nullptr || channels->is(Value::Kind::null) ||
               (channels->is(Value::Kind::scalar) && channels->text == "all");
  if (record.all) return;
  record.channels = draft.refer_to_channels(section.words("channels"), section.path("channels"));
}

}  // namespace hyphos::plan
