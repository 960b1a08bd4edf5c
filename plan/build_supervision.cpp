#include <algorithm>
#include <map>
#include <utility>

#include "plan/build.hpp"

namespace hyphos::plan {
namespace {

constexpr std::int64_t kLeastHeartbeatMs = 20;  // with less, a busy machine looks hung
constexpr std::int64_t kMaxRestarts = 600;

void read_health(const Section& section, ProcessPlan& process, Draft& draft) {
  const Section keys(section.find("health"), section.path("health"), draft.problems,
                     {"heartbeat_ms", "channels", "action"});
  HealthPlan& health = process.supervision.health;
  if (keys.has("heartbeat_ms")) {
    health.heartbeat_ms = keys.integer("heartbeat_ms", 0, kLeastHeartbeatMs, kMaxMs);
  }
  health.kill = keys.choice("action", true, {{"kill", true}, {"report", false}});
  std::vector<Word> words = keys.words("channels");
  if (section.has("health") && !keys.has("heartbeat_ms") && words.empty()) {
    section.error("health", "has nothing to monitor. Add heartbeat_ms, or channels");
  }
  draft.watched[process.name] = std::move(words);
}

void finish_after(ProcessPlan& process, Draft& draft) {
  const std::string path = "processes." + process.name + ".after";
  std::vector<std::string>& after = process.supervision.after;
  for (const Word& word : draft.after[process.name]) {
    if (word.text == process.name) {
      draft.error(word.source, path + ": process '" + word.text + "' cannot wait for itself");
    } else if (draft.plan.process(word.text) == nullptr) {
      draft.error(word.source,
                  path + ": unknown process '" + word.text + "'" +
                      suggestion(draft.problems, word.text, "processes", draft.process_names()));
    } else if (std::count(after.begin(), after.end(), word.text) > 0) {
      draft.error(word.source, path + ": process '" + word.text + "' is listed twice");
    } else {
      after.push_back(word.text);
    }
  }
}

void finish_watched(ProcessPlan& process, Draft& draft) {
  const std::string path = "processes." + process.name + ".health.channels";
  for (const std::string& name : draft.refer_to_channels(draft.watched[process.name], path)) {
    const ChannelPlan& channel = *draft.channel(name);
    const auto& words = draft.watched[process.name];
    const auto word =
        std::find_if(words.begin(), words.end(), [&](const Word& one) { return one.text == name; });
    const auto is_here = [&](const std::string& node) {
      return draft.plan.node(node)->process == process.name;
    };
    if (channel.policy.deadline_ms == 0) {
      draft.error(word->source, path + ": channel '" + name +
                                    "' has no deadline_ms, so it is never late. Add "
                                    "one under channels." +
                                    name);
    } else if (channel.publishers &&
               std::none_of(channel.publishers->begin(), channel.publishers->end(), is_here)) {
      draft.error(word->source, path + ": no node of process '" + process.name + "' publishes '" +
                                    name + "'. List channels that the process itself publishes");
    }
    process.supervision.health.channels.push_back(name);
  }
}

/// Depth-first search over `after`. A process that is already on the path closes a cycle.
class Cycles {
 public:
  explicit Cycles(Draft& draft) : draft_(draft) {}

  void visit(const ProcessPlan& process) {
    State& state = states_[process.name];
    if (state == State::done) return;
    way_.push_back(process.name);
    if (state == State::under_way) {
      tell(process);
    } else {
      state = State::under_way;
      for (const std::string& name : process.supervision.after) {
        visit(*draft_.plan.process(name));
      }
    }
    states_[process.name] = State::done;
    way_.pop_back();
  }

 private:
  enum class State : std::uint8_t { fresh, under_way, done };

  void tell(const ProcessPlan& process) {
    std::string text;
    for (auto at = std::find(way_.begin(), way_.end(), process.name); at != way_.end(); ++at) {
      text += (text.empty() ? "" : " after ") + *at;
    }
    draft_.error(to_source(process.source), "processes." + process.name + ".after: a cycle, " +
                                                text + ". None of them could start first");
  }

  Draft& draft_;
  std::map<std::string, State> states_;
  std::vector<std::string> way_;
};

}  // namespace

void read_supervision(const Section& section, ProcessPlan& process, Draft& draft) {
  SupervisionPlan& out = process.supervision;
  draft.after[process.name] = section.words("after");
  if (section.has("ready")) draft.ready_given.insert(process.name);
  out.ready =
      section.choice("ready", out.ready, {{"started", Ready::started}, {"nodes", Ready::nodes}});
  out.ready_timeout_ms = section.integer("ready_timeout_ms", out.ready_timeout_ms, 0, kMaxMs);
  out.stop_timeout_ms = section.integer("stop_timeout_ms", out.stop_timeout_ms, 0, kMaxMs);
  out.restart = section.choice("restart", out.restart,
                               {{"never", Restart::never},
                                {"on_failure", Restart::on_failure},
                                {"always", Restart::always}});
  for (const char* key : {"backoff_ms", "max_backoff_ms", "max_restarts_per_minute"}) {
    if (!section.has(key) || out.restart != Restart::never) continue;
    section.error(key, "has no effect with restart never. Remove it, or write restart: on_failure");
  }
  out.backoff_ms = section.integer("backoff_ms", out.backoff_ms, 0, kMaxMs);
  const std::int64_t most = std::max(out.max_backoff_ms, out.backoff_ms);
  out.max_backoff_ms = section.integer("max_backoff_ms", most, 0, kMaxMs);
  if (out.max_backoff_ms < out.backoff_ms) {
    section.error("max_backoff_ms", "is less than backoff_ms, " + std::to_string(out.backoff_ms) +
                                        ". The delay grows from backoff_ms to max_backoff_ms");
  }
  out.max_restarts_per_minute = static_cast<int>(
      section.integer("max_restarts_per_minute", out.max_restarts_per_minute, 1, kMaxRestarts));
  read_health(section, process, draft);
}

void finish_supervision(Draft& draft) {
  for (ProcessPlan& process : draft.plan.processes) {
    finish_after(process, draft);
    finish_watched(process, draft);
    SupervisionPlan& supervision = process.supervision;
    // A program may not use Hyphos at all. If it is monitored, it must use Hyphos.
    if (process.kind == ProcessKind::executable && !supervision.health.enabled() &&
        draft.ready_given.count(process.name) == 0) {
      supervision.ready = Ready::started;
    }
  }
  if (draft.problems.failed()) return;
  Cycles cycles(draft);
  for (const ProcessPlan& process : draft.plan.processes) cycles.visit(process);
}

}  // namespace hyphos::plan
