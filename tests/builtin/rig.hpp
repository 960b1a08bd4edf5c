#pragma once

#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <utility>

#include "builtin/registry.hpp"
#include "hyphos/hyphos.hpp"
#include "hyphos/plan.hpp"

namespace hyphos::builtin {

/// A folder that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hyphos-builtin-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::filesystem::path file(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// One built-in node in a process of its own plan, without transports.
class Rig {
 public:
  /// `params`: the parameters of the node as YAML, such as "{input: image}".
  Rig(const std::string& builtin, const std::string& params)
      : runtime_(Runtime::open(options(builtin, params)).or_throw()),
        tested_(runtime_.node("tested").or_throw()),
        test_(runtime_.node("test").or_throw()) {}

  Rig(const Rig&) = delete;
  Rig& operator=(const Rig&) = delete;
  ~Rig() { end(); }

  /// Constructs the node that the plan names, or uses the given one.
  void start() {
    const std::string name = runtime_.plan()->node("tested")->program;
    for (const Known& known : known_nodes()) {
      if (known.name == name) node_ = known.open(tested_);
    }
  }
  void start(std::unique_ptr<Builtin> node) { node_ = std::move(node); }
  /// As the runtime ends a node: no callback runs during the destruction.
  void end() {
    tested_.close();
    node_.reset();
  }

  [[nodiscard]] const Node& tested() const { return tested_; }
  [[nodiscard]] const Node& node() const { return test_; }
  [[nodiscard]] const Folder& folder() const { return folder_; }

 private:
  RuntimeOptions options(const std::string& builtin, const std::string& params) const {
    RuntimeOptions options;
    options.plan_file =
        folder_.file("robot.yaml", "hyphos: 1\nrobot: rig\nnodes:\n  tested: {builtin: " + builtin +
                                       ", params: " + params + "}\n  test: {}\n");
    options.offline = true;
    return options;
  }

  Folder folder_;
  Runtime runtime_;
  Node tested_;
  Node test_;
  std::unique_ptr<Builtin> node_;
};

/// The messages of a channel, in order.
template <typename T>
class Inbox {
 public:
  Inbox(const Node& node, const std::string& channel) {
    Policy policy;
    policy.latched = true;
    policy.depth = 1024;
    SubscriptionOptions options;
    options.policy = policy;
    subscription_ = node.subscribe<T>(channel, options, [this](const Message<T>& message) {
      const std::lock_guard lock(mutex_);
      messages_.push_back(message);
      arrived_.notify_all();
    });
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() { subscription_.close(); }  // the node outlives it

  /// Waits for the next message that satisfies the condition, and drops those before.
  template <typename Condition>
  Message<T> next(Condition good) {
    std::unique_lock lock(mutex_);
    for (;;) {
      arrived_.wait(lock, [this] { return !messages_.empty(); });
      Message<T> found = std::move(messages_.front());
      messages_.pop_front();
      if (good(*found)) return found;
    }
  }
  Message<T> next() {
    return next([](const T&) { return true; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Message<T>> messages_;
  Subscription subscription_;
};

}  // namespace hyphos::builtin
