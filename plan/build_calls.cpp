#include <algorithm>
#include <utility>

#include "plan/build.hpp"
#include "plan/names.hpp"

namespace hyphos::plan {
namespace {

/// The valid names of services in `words`. Reports repeated ones.
std::vector<Word> check_names(const std::vector<Word>& words, const std::string& path,
                              Draft& draft) {
  std::vector<Word> names;
  for (const Word& word : words) {
    if (const std::string why = call_name_problem(word.text); !why.empty()) {
      draft.error(word.source, path + ": '" + word.text + "': " + why);
    } else if (std::any_of(names.begin(), names.end(),
                           [&](const Word& known) { return known.text == word.text; })) {
      draft.error(word.source, path + ": '" + word.text + "' is listed twice");
    } else {
      names.push_back(word);
    }
  }
  return names;
}

void read_servers(bool action, Draft& draft) {
  const char* const key = action ? "actions" : "services";
  for (std::size_t i = 0; i < draft.plan.nodes.size(); ++i) {
    NodePlan& node = draft.plan.nodes[i];
    const std::string path = "nodes." + node.name + "." + key;
    const Draft::NodeCalls& words = draft.node_calls[i];
    for (const Word& word : check_names(action ? words.actions : words.services, path, draft)) {
      if (const CallPlan* known = draft.plan.call(word.text, action); known != nullptr) {
        draft.error(word.source, path + ": '" + word.text + "' is one of node '" + known->server +
                                     "' already, at " + known->source.to_string() + ". Keep one");
        continue;
      }
      if (draft.plan.calls.size() >= kMaxChannels) {
        draft.error(word.source,
                    path + ": more than " + std::to_string(kMaxChannels) + " services");
        return;
      }
      (action ? node.actions : node.services).push_back(word.text);
      draft.plan.calls.push_back({word.text, action, node.name, {}, to_line(word.source)});
    }
  }
}

void read_clients(bool action, Draft& draft) {
  const char* const key = action ? "goals" : "calls";
  std::vector<std::string_view> known;
  for (const CallPlan& call : draft.plan.calls) {
    if (call.action == action) known.push_back(call.name);
  }
  for (std::size_t i = 0; i < draft.plan.nodes.size(); ++i) {
    NodePlan& node = draft.plan.nodes[i];
    const std::string path = "nodes." + node.name + "." + key;
    const Draft::NodeCalls& words = draft.node_calls[i];
    for (const Word& word : check_names(action ? words.goals : words.calls, path, draft)) {
      const auto call = std::find_if(
          draft.plan.calls.begin(), draft.plan.calls.end(), [&](const CallPlan& candidate) {
            return candidate.name == word.text && candidate.action == action;
          });
      if (call == draft.plan.calls.end()) {
        draft.error(
            word.source,
            path + ": no node of the plan offers '" + word.text + "'" +
                suggestion(draft.problems, word.text, action ? "actions" : "services", known) +
                ". Name it under " + (action ? "actions" : "services") + " of a node");
        continue;
      }
      (action ? node.goals : node.calls).push_back(word.text);
      call->clients.push_back(node.name);
    }
  }
}

void add_channels(const CallPlan& call, Draft& draft) {
  ChannelPlan channel;
  channel.internal = true;
  channel.transport = draft.transport;
  channel.policy = call_policy();
  channel.source = call.source;
  channel.name = call_channel_base(call.name, call.action) + "/request";
  channel.publishers = call.clients;
  channel.subscribers = {call.server};
  draft.add_channel(channel);
  channel.name = call_channel_base(call.name, call.action) + "/reply";
  std::swap(channel.publishers, channel.subscribers);
  draft.add_channel(std::move(channel));
}

}  // namespace

void read_calls(Draft& draft) {
  for (const bool action : {false, true}) read_servers(action, draft);
  for (const bool action : {false, true}) read_clients(action, draft);
  for (const CallPlan& call : draft.plan.calls) add_channels(call, draft);
}

}  // namespace hyphos::plan
