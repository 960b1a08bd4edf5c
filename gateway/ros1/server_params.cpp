#include "gateway/ros1/server_params.hpp"

#include "base/log.hpp"

namespace hyphos::gateway::ros1 {
namespace {

/// Maximum number of updates that may arrive during a complete query. Beyond that the query is
/// repeated.
constexpr std::size_t kMaxMeanwhile = 10'000;

bool is_true(const Value& value) {
  const bool* yes = value.get_if<bool>();
  const std::int32_t* number = value.get_if<std::int32_t>();
  return (yes != nullptr && *yes) || (number != nullptr && *number != 0);
}

}  // namespace

ServerParams::ServerParams(const Member& member,
                           std::function<void(const std::string& name)> changed)
    : member_(member), changed_(std::move(changed)) {}

void ServerParams::look(const std::string& known) {
  if (stopped_ || fetching_) return;
  if (!known_ || known.empty() || fetched_ + kRefresh < monotonic_now()) return fetch();
  member_.ask("hasParam", {known}, [this](const Result<Value>& has) {
    if (!has || !is_true(*has)) known_ = false;
    if (!known_ && !fetching_) fetch();
  });
}

void ServerParams::fetch() {
  if (stopped_) return;
  fetching_ = true;
  member_.ask("subscribeParam", {member_.uri, "/"},
              [this](const Result<Value>& all) { fetched(all); });
}

void ServerParams::fetched(const Result<Value>& all) {
  fetching_ = false;
  const auto told = std::exchange(meanwhile_, {});
  if (stopped_) return;
  ParamTree tree;
  const bool is_tree = all && all->get_if<Value::Struct>() != nullptr;
  Result<void> held = success();
  if (is_tree) held = tree.set("/", *all);
  if (!all || !held) {
    known_ = false;
    const Error& error = all ? held.error() : all.error();
    if (logged_.first(error.message)) {
      log::warn("ros1", "parameters are not bridged: " + error.to_string());
    }
    return;
  }
  tree_ = std::move(tree);
  for (const auto& [name, value] : told) put(name, value);
  known_ = told.size() < kMaxMeanwhile;
  fetched_ = monotonic_now();
  if (known_) changed_("/");
}

void ServerParams::update(const std::string& name, const Value& value) {
  if (stopped_) return;
  if (fetching_) {
    if (meanwhile_.size() < kMaxMeanwhile) meanwhile_.emplace_back(name, value);
    return;
  }
  if (!known_) return;
  put(name, value);
  changed_(name);
}

void ServerParams::put(const std::string& name, const Value& value) {
  const auto* members = value.get_if<Value::Struct>();
  if (members != nullptr && members->empty()) {
    tree_.erase(name);
  } else if (!tree_.set(name, value)) {
    known_ = false;  // the value does not fit here, or an update was missed
  }
}

void ServerParams::set(const std::string& name, const Value& value) {
  put(name, value);
  member_.ask("setParam", {name, value},
              [this, name](const Result<Value>& outcome) { written(name, outcome); });
}

void ServerParams::erase(const std::string& name) {
  tree_.erase(name);
  member_.ask("deleteParam", {name}, nullptr);
}

void ServerParams::written(const std::string& name, const Result<Value>& outcome) {
  if (outcome) return;
  known_ = false;
  if (logged_.first(name + " " + outcome.error().message)) {
    log::warn("ros1",
              "the master refused the parameter " + name + ": " + outcome.error().to_string());
  }
}

void ServerParams::ask(const std::string& name, std::function<void(bool)> done) {
  member_.ask("getParam", {name}, [this, name, done = std::move(done)](const Result<Value>& value) {
    if (value) put(name, *value);
    done(value.ok());
  });
}

void ServerParams::stop() {
  stopped_ = true;
  known_ = false;
  member_.ask("unsubscribeParam", {member_.uri, "/"}, nullptr);
}

}  // namespace hyphos::gateway::ros1
