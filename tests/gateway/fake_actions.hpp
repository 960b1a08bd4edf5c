#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gateway/facade/actions.hpp"
#include "tests/gateway/fake_pool.hpp"
#include "tests/gateway/fake_types.hpp"

namespace hyphos::gateway {

/// The actions of a FakeGraph. A goal goes to its server, byte for byte, and feedback and result
/// come back. Thread-safe.
class FakeActions final : public Actions {
 public:
  FakeActions(FakePool& pool, const FakeTypes& types) : pool_(pool), types_(types) {}

  Result<std::unique_ptr<ActionServer>> open_server(const Client& client, const std::string& action,
                                                    const std::string& type, Forms,
                                                    ActionCallbacks callbacks) override {
    if (const auto known = types_.action(type); !known) return known.error();
    const std::lock_guard lock(mutex_);
    if (servers_.contains(action)) {
      return Error{Code::already_exists, "action " + action + " already has a server", action};
    }
    auto server =
        std::make_shared<Served>(ActionInfo{action, type, client.name}, std::move(callbacks));
    servers_.emplace(action, server);
    return std::unique_ptr<ActionServer>(new FakeServer(*this, action, std::move(server)));
  }

  Result<std::unique_ptr<SentGoal>> send_goal(const Client&, const std::string& action,
                                              const std::string&, Forms,
                                              std::span<const std::byte> bytes,
                                              GoalCallbacks callbacks) override {
    const std::lock_guard lock(mutex_);
    const auto found = servers_.find(action);
    if (found == servers_.end()) {
      return Error{Code::not_found, "the graph has no action '" + action + "'", action};
    }
    auto goal = std::make_shared<Goal>(pool_, std::move(callbacks));
    found->second->goals.push_back(goal);
    pool_.post([server = found->second, goal, bytes = Buffer::copy_of(bytes)] {
      const auto handle = std::make_shared<FakeServed>(goal);
      goal->on_cancel([weak = std::weak_ptr<ServedGoal>(handle), server] {
        if (const auto alive = weak.lock()) server->callbacks.cancel(alive);
      });
      goal->accept();
      server->callbacks.execute(bytes, handle);
    });
    return std::unique_ptr<SentGoal>(new FakeSent(std::move(goal)));
  }

  /// An encapsulation header and zeros.
  [[nodiscard]] Result<Buffer> blank_result(const std::string& type, Form) const override {
    if (const auto known = types_.action(type); !known) return known.error();
    const std::array<std::byte, 8> blank{std::byte{0}, std::byte{1}};
    return Buffer::copy_of(blank);
  }

  /// The number of open servers.
  [[nodiscard]] std::size_t open() const {
    const std::lock_guard lock(mutex_);
    return servers_.size();
  }
  [[nodiscard]] std::vector<ActionInfo> list() const override {
    const std::lock_guard lock(mutex_);
    std::vector<ActionInfo> list;
    for (const auto& [name, server] : servers_) list.push_back(server->info);
    return list;
  }

 private:
  /// The state that both endpoints of a goal share. Callbacks of the sender run under `ears_`, so
  /// that the destructor of its handle waits for them.
  class Goal {
   public:
    Goal(FakePool& pool, GoalCallbacks callbacks) : pool_(pool), callbacks_(std::move(callbacks)) {}

    void feedback(Buffer bytes, const std::shared_ptr<Goal>& self) {
      pool_.post([self, bytes = std::move(bytes)] {
        const std::lock_guard lock(self->ears_);
        if (self->callbacks_.feedback) self->callbacks_.feedback(bytes);
      });
    }
    bool end(Result<GoalResult> end, const std::shared_ptr<Goal>& self) {
      {
        const std::lock_guard lock(mutex_);
        if (std::exchange(ended_, true)) return false;
        cancel_ = nullptr;
      }
      pool_.post([self, end = std::move(end)] {
        const std::lock_guard lock(self->ears_);
        if (const auto told = std::exchange(self->callbacks_, {}).end) told(end);
      });
      return true;
    }
    void on_cancel(std::function<void()> hook) {
      {
        const std::lock_guard lock(mutex_);
        if (!canceled_) {
          cancel_ = std::move(hook);
          return;
        }
      }
      pool_.post(std::move(hook));
    }
    void cancel() {
      std::function<void()> hook;
      {
        const std::lock_guard lock(mutex_);
        canceled_ = true;
        hook = std::exchange(cancel_, nullptr);
      }
      if (hook) pool_.post(std::move(hook));
    }
    void accept() {
      const std::lock_guard lock(mutex_);
      accepted_ = true;
    }
    [[nodiscard]] bool accepted() {
      const std::lock_guard lock(mutex_);
      return accepted_;
    }
    void forget() {
      const std::lock_guard lock(ears_);
      callbacks_ = {};
    }

   private:
    FakePool& pool_;
    std::mutex mutex_;
    bool ended_ = false;
    bool canceled_ = false;
    bool accepted_ = false;
    std::function<void()> cancel_;
    std::recursive_mutex ears_;
    GoalCallbacks callbacks_;
  };

  struct Served {
    Served(ActionInfo what, ActionCallbacks called)
        : info(std::move(what)), callbacks(std::move(called)) {}
    const ActionInfo info;
    const ActionCallbacks callbacks;
    std::vector<std::weak_ptr<Goal>> goals;
  };

  class FakeSent final : public SentGoal {
   public:
    explicit FakeSent(std::shared_ptr<Goal> goal) : goal_(std::move(goal)) {}
    ~FakeSent() override {
      goal_->forget();
      goal_->cancel();
    }
    FakeSent(const FakeSent&) = delete;
    FakeSent& operator=(const FakeSent&) = delete;
    void cancel() override { goal_->cancel(); }
    [[nodiscard]] bool accepted() const override { return goal_->accepted(); }

   private:
    const std::shared_ptr<Goal> goal_;
  };

  class FakeServed final : public ServedGoal {
   public:
    explicit FakeServed(std::shared_ptr<Goal> goal) : goal_(std::move(goal)) {}
    ~FakeServed() override { fail({Code::canceled, "the server dropped the goal", ""}); }
    FakeServed(const FakeServed&) = delete;
    FakeServed& operator=(const FakeServed&) = delete;
    Result<void> feedback(std::span<const std::byte> message) override {
      goal_->feedback(Buffer::copy_of(message), goal_);
      return success();
    }
    Result<void> finish(GoalEnd end, std::span<const std::byte> result) override {
      if (goal_->end(GoalResult{end, Buffer::copy_of(result)}, goal_)) return success();
      return Error{Code::already_exists, "the goal has already ended", ""};
    }
    void fail(const Error& error) override { goal_->end(error, goal_); }

   private:
    const std::shared_ptr<Goal> goal_;
  };

  class FakeServer final : public ActionServer {
   public:
    FakeServer(FakeActions& actions, std::string action, std::shared_ptr<Served> served)
        : actions_(actions), action_(std::move(action)), served_(std::move(served)) {}
    ~FakeServer() override {
      const std::lock_guard lock(actions_.mutex_);
      actions_.servers_.erase(action_);
      for (const auto& weak : served_->goals) {
        if (const auto goal = weak.lock()) {
          goal->end(Error{Code::disconnected, action_ + " has lost its server", action_}, goal);
        }
      }
    }
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;

   private:
    FakeActions& actions_;
    const std::string action_;
    const std::shared_ptr<Served> served_;
  };

  FakePool& pool_;
  const FakeTypes& types_;
  mutable std::mutex mutex_;  // guards the member below
  std::map<std::string, std::shared_ptr<Served>> servers_;
};

}  // namespace hyphos::gateway
