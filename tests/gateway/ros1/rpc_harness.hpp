#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "gateway/ros1/methods.hpp"
#include "gateway/ros1/rpc.hpp"

namespace hyphos::gateway::ros1 {

/// Blocking calls, and a server that records its calls.
class RpcHarness {
 public:
  Result<Value> raw(const std::string& uri, const std::string& method,
                    const std::vector<Value>& params,
                    Duration timeout = Duration::from_seconds(20)) {
    auto done = std::make_shared<std::promise<Result<Value>>>();
    auto answer = done->get_future();
    loop_->post([this, uri, method, params, timeout, done] {
      client_.call(uri, method, params, {.timeout = timeout},
                   [done](Result<Value> value) { done->set_value(std::move(value)); });
    });
    return answer.get();
  }
  /// Returns the value of a successful call.
  Result<Value> ask(const std::string& uri, const std::string& method,
                    const std::vector<Value>& params) {
    return value_of(raw(uri, method, params));
  }

  ~RpcHarness() { loop_.reset(); }
  RpcHarness() = default;
  RpcHarness(const RpcHarness&) = delete;
  RpcHarness& operator=(const RpcHarness&) = delete;

  [[nodiscard]] net::Loop& loop() { return *loop_; }
  /// Requires the thread of the loop.
  [[nodiscard]] RpcClient& client() { return client_; }

 private:
  std::unique_ptr<net::Loop> loop_ = std::make_unique<net::Loop>();
  RpcClient client_{*loop_};
};

/// A node without topics that records its calls.
class NodeStub {
 public:
  NodeStub() {
    const auto answer = [this](const RpcCall& call, const net::Address&, const RpcReply& reply) {
      {
        const std::lock_guard lock(mutex_);
        calls_.push_back(call);
      }
      reply(outcome(1, "", 0));
    };
    server_ = RpcServer::open(*loop_, {}, answer).or_throw();
  }
  ~NodeStub() { loop_.reset(); }
  NodeStub(const NodeStub&) = delete;
  NodeStub& operator=(const NodeStub&) = delete;

  [[nodiscard]] std::string uri() const {
    return "http://127.0.0.1:" + std::to_string(server_->port()) + "/";
  }
  /// True if it received exactly this call.
  [[nodiscard]] bool was_told(const std::string& method, const std::vector<Value>& params) const {
    const std::lock_guard lock(mutex_);
    for (const RpcCall& call : calls_) {
      if (call.method == method && call.params == params) return true;
    }
    return false;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<RpcCall> calls_;
  std::unique_ptr<net::Loop> loop_ = std::make_unique<net::Loop>();
  std::unique_ptr<RpcServer> server_;
};

}  // namespace hyphos::gateway::ros1
