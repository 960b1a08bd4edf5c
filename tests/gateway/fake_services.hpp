#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/facade/services.hpp"
#include "tests/gateway/fake_clients.hpp"
#include "tests/gateway/fake_pool.hpp"
#include "tests/gateway/fake_types.hpp"

namespace hyphos::gateway {

/// The services of a FakeGraph. Requests and replies pass byte for byte. Thread-safe.
class FakeServices final : public Services {
 public:
  FakeServices(FakePool& pool, const FakeTypes& types, const FakeClients& clients)
      : pool_(pool), types_(types), clients_(clients) {}

  /// Sets the reply of blank_reply() for any type. The default is one zero byte.
  void blank(std::string reply) {
    const std::lock_guard lock(mutex_);
    blank_ = std::move(reply);
  }
  /// Adds a service of the graph that no client can call, such as one without a ROS type.
  void add_foreign(ServiceInfo info) {
    const std::lock_guard lock(mutex_);
    foreign_.push_back(std::move(info));
  }
  /// Acts as if the gateway's node had been closed: no server can be opened.
  void close_node() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  /// The number of servers that were refused since then.
  [[nodiscard]] std::size_t refused() const {
    const std::lock_guard lock(mutex_);
    return refused_;
  }
  /// The number of calls of list(), whose cost grows with the robot.
  [[nodiscard]] std::size_t listings() const {
    const std::lock_guard lock(mutex_);
    return listings_;
  }
  /// The number of open servers.
  [[nodiscard]] std::size_t open() const {
    const std::lock_guard lock(mutex_);
    return servers_.size();
  }

  Result<std::unique_ptr<Server>> open_server(
      const Client& client, const std::string& service, const std::string& type, Forms,
      std::function<void(const Buffer& request, Answer answer)> callback) override {
    const auto known = types_.service(type);
    if (!known) return known.error();
    if (const auto admitted = clients_.admit(service); !admitted) return admitted.error();
    auto served = std::make_shared<Served>(client.name, *known, std::move(callback));
    const std::lock_guard lock(mutex_);
    if (closed_) {
      ++refused_;
      return Error{Code::disconnected, "the node has been closed", service};
    }
    if (!servers_.emplace(service, served).second) {
      return Error{Code::already_exists, "service " + service + " already has a server", service};
    }
    return std::unique_ptr<Server>(new FakeServer(*this, service, std::move(served)));
  }

  void call(const Client&, const std::string& service, const std::string&, Forms,
            std::span<const std::byte> request, Duration timeout, Answer answer) override {
    const std::lock_guard lock(mutex_);
    auto call = std::make_shared<Call>(std::move(answer));
    const auto found = servers_.find(service);
    if (found == servers_.end()) {
      return pool_.post([call, service] {
        call->end(Error{Code::disconnected, "service " + service + " has no server", service});
      });
    }
    found->second->add(call);
    pool_.post_after(timeout, [call, service] {
      call->end(Error{Code::timeout, "service " + service + " has not answered", service});
    });
    pool_.post([call, served = found->second, bytes = Buffer::copy_of(request)] {
      served->callback(bytes, [call](Result<Buffer> reply) { call->end(std::move(reply)); });
    });
  }

  [[nodiscard]] Result<Buffer> blank_reply(std::string_view type, Form) const override {
    if (const auto known = types_.service(type); !known) return known.error();
    const std::lock_guard lock(mutex_);
    return Buffer::copy_of(std::as_bytes(std::span(blank_)));
  }
  [[nodiscard]] std::optional<ServiceInfo> find(const std::string& service) const override {
    const std::lock_guard lock(mutex_);
    const auto found = servers_.find(service);
    if (found == servers_.end()) return std::nullopt;
    return ServiceInfo{service, found->second->type.name, found->second->client};
  }
  [[nodiscard]] std::vector<ServiceInfo> list() const override {
    const std::lock_guard lock(mutex_);
    ++listings_;
    std::vector<ServiceInfo> list = foreign_;
    for (const auto& [name, served] : servers_) {
      list.push_back({name, served->type.name, served->client});
    }
    return list;
  }

 private:
  /// A call that ends once. The first end wins.
  class Call {
   public:
    explicit Call(Answer answer) : answer_(std::move(answer)) {}
    void end(Result<Buffer> reply) {
      Answer answer;
      {
        const std::lock_guard lock(mutex_);
        answer = std::exchange(answer_, nullptr);
      }
      if (answer) answer(std::move(reply));
    }

   private:
    std::mutex mutex_;
    Answer answer_;
  };

  struct Served {
    Served(std::string name, ServiceTypeInfo its_type,
           std::function<void(const Buffer&, Answer)> called)
        : client(std::move(name)), type(std::move(its_type)), callback(std::move(called)) {}
    void add(const std::shared_ptr<Call>& call) {
      std::erase_if(calls, [](const auto& each) { return each.expired(); });
      calls.push_back(call);
    }
    const std::string client;
    const ServiceTypeInfo type;
    const std::function<void(const Buffer&, Answer)> callback;
    std::vector<std::weak_ptr<Call>> calls;
  };

  class FakeServer final : public Server {
   public:
    FakeServer(FakeServices& services, std::string service, std::shared_ptr<Served> served)
        : services_(services), service_(std::move(service)), served_(std::move(served)) {}
    ~FakeServer() override { services_.close(service_, *served_); }
    FakeServer(const FakeServer&) = delete;
    FakeServer& operator=(const FakeServer&) = delete;
    [[nodiscard]] const ServiceTypeInfo& type() const override { return served_->type; }

   private:
    FakeServices& services_;
    const std::string service_;
    const std::shared_ptr<Served> served_;
  };

  void close(const std::string& service, const Served& served) {
    const std::lock_guard lock(mutex_);
    servers_.erase(service);
    for (const auto& call : served.calls) {
      pool_.post([call = call.lock(), service] {
        if (call) call->end(Error{Code::disconnected, service + " has lost its server", service});
      });
    }
  }

  FakePool& pool_;
  const FakeTypes& types_;
  const FakeClients& clients_;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, std::shared_ptr<Served>> servers_;
  std::vector<ServiceInfo> foreign_;
  mutable std::size_t listings_ = 0;
  bool closed_ = false;
  std::size_t refused_ = 0;
  std::string blank_ = std::string(1, '\0');
};

}  // namespace hyphos::gateway
