#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gateway/facade/graph_facade.hpp"
#include "tests/gateway/fake_actions.hpp"
#include "tests/gateway/fake_params.hpp"

namespace hyphos::gateway {

/// An in-memory graph for protocol tests. Messages to a topic come out byte for byte, in every
/// encoding. Callbacks run in one thread of this class, as those of the graph run on its pool. A
/// test adds the types.
class FakeGraph : public GraphFacade {
 public:
  FakeGraph() : worker_([this] { work(); }) {}
  FakeGraph(const FakeGraph&) = delete;
  FakeGraph& operator=(const FakeGraph&) = delete;
  ~FakeGraph() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    changed_.notify_all();
    worker_.join();
    // Ends the remaining tasks. The end of a task may notify others.
    for (std::deque<std::function<void()>> left; !tasks_.empty(); left.clear()) left.swap(tasks_);
  }

  void add_type(TypeInfo type) {
    const std::lock_guard lock(mutex_);
    std::string name = type.name;
    types_.insert_or_assign(std::move(name), std::move(type));
  }
  void add_service_type(ServiceTypeInfo type) {
    const std::lock_guard lock(mutex_);
    std::string name = type.name;
    service_types_.insert_or_assign(std::move(name), std::move(type));
  }
  void add_action_type(ActionTypeInfo type) {
    const std::lock_guard lock(mutex_);
    std::string name = type.name;
    action_types_.insert_or_assign(std::move(name), std::move(type));
  }
  /// Denies this topic or service to all clients.
  void deny(const std::string& name) {
    const std::lock_guard lock(mutex_);
    denied_.insert(name);
  }
  /// Sets further rules on the topics and services that a client may see.
  void let(std::function<bool(const Client&, Use, std::string_view)> rules) {
    const std::lock_guard lock(mutex_);
    rules_ = std::move(rules);
  }
  /// Sets a check of each published message. A refused message is counted and not delivered.
  void check(std::function<Result<void>(const TypeInfo&, std::span<const std::byte>)> checked) {
    const std::lock_guard lock(mutex_);
    check_ = std::move(checked);
  }
  /// Makes publishers of this topic wait, or ends the wait. A publisher that publishes another
  /// message meanwhile is counted as `not_held_up`.
  void fill(const std::string& topic, bool full) {
    const std::lock_guard lock(mutex_);
    if (full) {
      full_.insert(topic);
    } else {
      full_.erase(topic);
    }
  }
  /// From now on, each message of this topic finds its queue full.
  void overrun(const std::string& topic) {
    const std::lock_guard lock(mutex_);
    overrun_.insert(topic);
  }
  /// The count of `why`.
  [[nodiscard]] std::uint64_t counted(std::string_view why) const {
    const std::lock_guard lock(mutex_);
    const auto found = counts_.find(why);
    return found == counts_.end() ? 0 : found->second;
  }
  /// The detail of the last count of `why`.
  [[nodiscard]] std::string last(std::string_view why) const {
    const std::lock_guard lock(mutex_);
    const auto found = details_.find(why);
    return found == details_.end() ? "" : found->second;
  }
  /// The number of open client publishers, client subscriptions and servers.
  [[nodiscard]] std::size_t open() const {
    std::size_t count = actions_.open();  // before the lock: actions take this lock under their own
    const std::lock_guard lock(mutex_);
    count += servers_.size();
    for (const auto& [name, topic] : topics_) {
      count += topic.publishers.size() + topic.subscriptions.size();
    }
    return count;
  }

  /// The last message whose base64 was decoded before all of it had arrived: the decoded bytes.
  [[nodiscard]] std::optional<std::string> read_early() {
    const std::lock_guard lock(mutex_);
    return std::exchange(read_early_, std::nullopt);
  }

  /// How often a client publisher lent memory.
  [[nodiscard]] std::uint64_t loans() const { return loans_; }

  /// The depth of the last client publisher of the topic.
  [[nodiscard]] std::uint32_t depth(const std::string& topic) const {
    const std::lock_guard lock(mutex_);
    return topics_.at(topic).options.depth;
  }

  Result<std::unique_ptr<ClientPublisher>> open_publisher(
      const Client& client, const std::string& topic, const std::string& type, Form,
      const ClientPublisherOptions& options) override {
    const std::lock_guard lock(mutex_);
    const auto known = admit(topic, type);
    if (!known) return known.error();
    Topic& carried = topics_[topic];
    carried.type = *known;
    carried.publishers.insert(client.name);
    carried.options = options;
    return std::unique_ptr<ClientPublisher>(
        new FakePublisher(*this, client, topic, *known, options.latched));
  }

  Result<std::unique_ptr<ClientSubscription>> open_subscription(
      const Client& client, const std::string& topic, const std::string& type, Form,
      const ClientSubscriptionOptions&,
      std::function<void(const OutgoingMessage&)> callback) override {
    const std::lock_guard lock(mutex_);
    const auto known = admit(topic, type);
    if (!known) return known.error();
    Topic& carried = topics_[topic];
    carried.type = *known;
    auto shared = std::make_shared<SharedSubscription>(client, std::move(callback));
    carried.subscriptions.push_back(shared);
    for (const Latched& last : carried.latched) {
      if (!shared->hears(last.group)) continue;
      tasks_.push_back([shared, last] { shared->give(last.bytes, last.number, true); });
      changed_.notify_one();
    }
    return std::unique_ptr<ClientSubscription>(
        new FakeSubscription(*this, topic, *known, std::move(shared)));
  }

  Result<std::unique_ptr<Server>> open_server(
      const Client& client, const std::string& service, const std::string& type, Form,
      std::function<void(const Buffer& request, Answer answer)> callback) override {
    const std::lock_guard lock(mutex_);
    const auto known = service_types_.find(type);
    if (known == service_types_.end()) return no_type(type);
    if (denied_.contains(service)) return not_allowed(service);
    if (servers_.contains(service)) {
      return Error{Code::already_exists, "service " + service + " already has a server", service};
    }
    auto served_service =
        std::make_shared<ServedService>(client.name, known->second, std::move(callback));
    servers_.emplace(service, served_service);
    return std::unique_ptr<Server>(new FakeServer(*this, service, std::move(served_service)));
  }

  void call(const Client&, const std::string& service, const std::string&, Form,
            std::span<const std::byte> request, Duration timeout, Answer answer) override {
    const std::lock_guard lock(mutex_);
    auto once = std::make_shared<Call>(std::move(answer));
    const auto found = servers_.find(service);
    if (found == servers_.end()) {
      tasks_.push_back([once, service] {
        once->end(Error{Code::disconnected, "service " + service + " has no server", service});
      });
    } else {
      found->second->add(once);
      later_.emplace(monotonic_now() + timeout, [once, service] {
        once->end(Error{Code::timeout, "service " + service + " has not answered", service});
      });
      tasks_.push_back([once, served_service = found->second, bytes = Buffer::copy_of(request)] {
        served_service->callback(bytes,
                                 [once](Result<Buffer> reply) { once->end(std::move(reply)); });
      });
    }
    changed_.notify_one();
  }

  Result<std::unique_ptr<SentGoal>> send_goal(const Client&, const std::string& action,
                                              const std::string&, Form,
                                              std::span<const std::byte> goal,
                                              GoalCallbacks callbacks) override {
    return actions_.send(action, goal, std::move(callbacks));
  }
  Result<std::unique_ptr<ActionServer>> open_action(const Client& client, const std::string& action,
                                                    const std::string& type, Form,
                                                    ActionCallbacks callbacks) override {
    if (const auto known = action_type(type); !known) return known.error();
    return actions_.open({action, type, client.name}, std::move(callbacks));
  }

  [[nodiscard]] Result<TypeInfo> type(std::string_view name) const override {
    const std::lock_guard lock(mutex_);
    const auto found = types_.find(name);
    return found == types_.end() ? Result<TypeInfo>(no_type(name)) : found->second;
  }
  [[nodiscard]] Result<ServiceTypeInfo> service_type(std::string_view name) const override {
    const std::lock_guard lock(mutex_);
    const auto found = service_types_.find(name);
    return found == service_types_.end() ? Result<ServiceTypeInfo>(no_type(name)) : found->second;
  }
  /// The reply to any service of a type: the one from blank(), or one zero byte.
  [[nodiscard]] Result<Buffer> blank_reply(std::string_view type, Form) const override {
    const std::lock_guard lock(mutex_);
    if (service_types_.find(type) == service_types_.end()) return no_type(type);
    return Buffer::copy_of(std::as_bytes(std::span(blank_)));
  }
  void blank(std::string reply) {
    const std::lock_guard lock(mutex_);
    blank_ = std::move(reply);
  }
  std::unique_ptr<NodeParams> open_params(std::function<void()> changed) override {
    return params_.open(std::move(changed));
  }
  /// The parameters of the robot nodes.
  [[nodiscard]] FakeParams& params() { return params_; }

  [[nodiscard]] Result<ActionTypeInfo> action_type(std::string_view name) const override {
    const std::lock_guard lock(mutex_);
    const auto found = action_types_.find(name);
    return found == action_types_.end() ? Result<ActionTypeInfo>(no_type(name)) : found->second;
  }
  [[nodiscard]] std::vector<TopicInfo> topics() const override {
    const std::lock_guard lock(mutex_);
    std::vector<TopicInfo> list;
    for (const auto& [name, topic] : topics_) {
      TopicInfo& info = list.emplace_back();
      info.topic = name;
      info.type = topic.type.name;
      info.latched = !topic.latched.empty();
      info.reliable = topic.options.reliable;
      info.depth = topic.options.depth > 0 ? topic.options.depth : 10;
      info.deadline_ms = topic.options.deadline_ms;
      info.publishers.assign(topic.publishers.begin(), topic.publishers.end());
      for (const auto& shared : topic.subscriptions) info.subscribers.push_back(shared->client);
    }
    return list;
  }
  [[nodiscard]] std::vector<ServiceInfo> services() const override {
    const std::lock_guard lock(mutex_);
    std::vector<ServiceInfo> list;
    for (const auto& [name, served_service] : servers_) {
      list.push_back({name, served_service->type.name, served_service->client});
    }
    return list;
  }
  [[nodiscard]] std::vector<ActionInfo> actions() const override { return actions_.all(); }
  [[nodiscard]] bool lets(const Client& client, Use use, std::string_view name) const override {
    const std::lock_guard lock(mutex_);
    return !denied_.contains(std::string(name)) && (!rules_ || rules_(client, use, name));
  }
  [[nodiscard]] std::vector<std::string> interfaces() const override {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, type] : types_) names.push_back(name);
    for (const auto& [name, type] : service_types_) names.push_back(name);
    for (const auto& [name, type] : action_types_) names.push_back(name);
    return names;
  }
  [[nodiscard]] int ros_version() const override { return 1; }
  [[nodiscard]] std::vector<std::string> nodes() const override {
    std::set<std::string> names;
    for (const TopicInfo& topic : topics()) {
      names.insert(topic.publishers.begin(), topic.publishers.end());
      names.insert(topic.subscribers.begin(), topic.subscribers.end());
    }
    return {names.begin(), names.end()};
  }
  void count(const Client&, std::string_view why, std::string_view detail) override {
    const std::lock_guard lock(mutex_);
    ++counts_[std::string(why)];
    details_[std::string(why)] = detail;
  }
  void note(const Client& client, std::string_view why, std::string_view detail) override {
    count(client, why, detail);
  }

 private:
  /// The time and the sequence number of a message.
  struct Number {
    std::int64_t publish_ns = 0;
    std::uint64_t sequence = 0;
  };
  /// One client subscription. Its callback runs under its lock, so that its end waits for the
  /// callback.
  struct SharedSubscription {
    SharedSubscription(const Client& who, std::function<void(const OutgoingMessage&)> called)
        : client(who.name), group(who.group), callback(std::move(called)) {}
    [[nodiscard]] bool hears(const std::string& publisher) const {
      return group.empty() || group != publisher;
    }
    void give(const Buffer& bytes, const Number& number, bool replayed) {
      const std::lock_guard lock(running);
      if (callback) callback({bytes, number.publish_ns, replayed, 1, number.sequence});
    }
    void end() {
      const std::lock_guard lock(running);
      callback = nullptr;
    }
    const std::string client;
    const std::string group;
    std::function<void(const OutgoingMessage&)> callback;
    std::recursive_mutex running;  ///< recursive: a callback may end its own subscription
  };

  struct Latched {
    const ClientPublisher* by = nullptr;
    std::string group;
    Buffer bytes;
    Number number;
  };

  struct Topic {
    TypeInfo type;
    ClientPublisherOptions options;  ///< options of the latest publisher
    std::multiset<std::string> publishers;
    std::vector<std::shared_ptr<SharedSubscription>> subscriptions;
    std::vector<Latched> latched;  ///< the last message of each open publisher, the newest last
  };

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

  struct ServedService {
    ServedService(std::string name, ServiceTypeInfo its_type,
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

  class FakePublisher final : public ClientPublisher {
   public:
    FakePublisher(FakeGraph& facade, Client client, std::string topic, TypeInfo type, bool latched)
        : facade_(facade),
          client_(std::move(client)),
          topic_(std::move(topic)),
          type_(std::move(type)),
          latched_(latched) {}
    ~FakePublisher() override { facade_.close_publisher(*this, topic_, client_.name); }
    Result<void> publish(std::span<const std::byte> message, const DecodeHint& within) override {
      if (within.decoded != nullptr) facade_.note_early(*within.decoded);
      if (keeps()) facade_.count(client_, "not_held_up", topic_);
      if (facade_.is_full(topic_)) {
        kept_ = Buffer::copy_of(message);
        return success();
      }
      if (facade_.is_overrun(topic_)) ++overruns_;
      return facade_.publish(latched_ ? this : nullptr, client_, topic_, type_, message);
    }
    [[nodiscard]] std::uint64_t overruns() const override { return overruns_; }
    WritableBuffer loan(std::size_t size) override {
      ++facade_.loans_;
      return ClientPublisher::loan(size);
    }
    [[nodiscard]] bool keeps() const override { return !kept_.empty(); }
    Result<bool> flush() override {
      if (kept_.empty()) return true;
      if (facade_.is_full(topic_)) return false;
      const Buffer kept = std::exchange(kept_, {});
      const auto done =
          facade_.publish(latched_ ? this : nullptr, client_, topic_, type_, kept.bytes());
      return done ? Result<bool>(true) : done.error();
    }
    [[nodiscard]] const TypeInfo& type() const override { return type_; }

   private:
    FakeGraph& facade_;
    Client client_;
    std::string topic_;
    TypeInfo type_;
    bool latched_;
    Buffer kept_;  ///< kept until there is room
    std::uint64_t overruns_ = 0;
  };

  class FakeSubscription final : public ClientSubscription {
   public:
    FakeSubscription(FakeGraph& facade, std::string topic, TypeInfo type,
                     std::shared_ptr<SharedSubscription> shared)
        : facade_(facade),
          topic_(std::move(topic)),
          type_(std::move(type)),
          shared_(std::move(shared)) {}
    ~FakeSubscription() override {
      facade_.close_subscription(topic_, shared_);
      shared_->end();
    }
    [[nodiscard]] const TypeInfo& type() const override { return type_; }

   private:
    FakeGraph& facade_;
    std::string topic_;
    TypeInfo type_;
    std::shared_ptr<SharedSubscription> shared_;
  };

  class FakeServer final : public Server {
   public:
    FakeServer(FakeGraph& facade, std::string service,
               std::shared_ptr<ServedService> served_service)
        : facade_(facade),
          service_(std::move(service)),
          served_service_(std::move(served_service)) {}
    ~FakeServer() override { facade_.close_server(service_, *served_service_); }
    [[nodiscard]] const ServiceTypeInfo& type() const override { return served_service_->type; }

   private:
    FakeGraph& facade_;
    std::string service_;
    std::shared_ptr<ServedService> served_service_;
  };

  static Error no_type(std::string_view name) {
    return {Code::not_found, "unknown type '" + std::string(name) + "'", std::string(name)};
  }
  static Error not_allowed(const std::string& name) {
    return {Code::permission, name + " is not allowed", name};
  }

  void note_early(const DecodedText& decoded) {
    const std::lock_guard lock(mutex_);
    read_early_ = std::string(decoded.bytes.text());
  }
  [[nodiscard]] bool is_overrun(const std::string& topic) const {
    const std::lock_guard lock(mutex_);
    return overrun_.contains(topic);
  }
  [[nodiscard]] bool is_full(const std::string& topic) const {
    const std::lock_guard lock(mutex_);
    return full_.contains(topic);
  }

  /// The type of an opened topic. Requires mutex_.
  Result<TypeInfo> admit(const std::string& topic, const std::string& type) {
    if (denied_.contains(topic)) return not_allowed(topic);
    const auto carried = topics_.find(topic);
    const bool used = carried != topics_.end() && !(carried->second.publishers.empty() &&
                                                    carried->second.subscriptions.empty());
    if (type.empty()) {
      if (!used) return Error{Code::not_found, "no topic " + topic, topic};
      return carried->second.type;
    }
    const auto known = types_.find(type);
    if (known == types_.end()) return no_type(type);
    if (used && carried->second.type.name != type) {
      return Error{Code::type_mismatch, topic + " carries " + carried->second.type.name, topic};
    }
    return known->second;
  }

  /// `latched`: the publisher whose message stays latched, or nullptr.
  Result<void> publish(const ClientPublisher* latched, const Client& client,
                       const std::string& topic, const TypeInfo& type,
                       std::span<const std::byte> message) {
    {
      std::unique_lock lock(mutex_);
      if (const auto checked = check_) {
        lock.unlock();
        auto result = checked(type, message);
        if (!result) {
          count({}, "corrupt", topic);
          return result;
        }
      }
    }
    Buffer bytes = Buffer::copy_of(message);
    const std::lock_guard lock(mutex_);
    Topic& carried = topics_[topic];
    const Number number{monotonic_now().ns, ++published_};
    if (latched != nullptr) {
      std::erase_if(carried.latched, [&](const Latched& one) { return one.by == latched; });
      carried.latched.push_back({latched, client.group, bytes, number});
    }
    if (carried.subscriptions.empty()) return success();
    tasks_.push_back([shared_subscriptions = carried.subscriptions, bytes = std::move(bytes),
                      group = client.group, number] {
      for (const auto& shared : shared_subscriptions) {
        if (shared->hears(group)) shared->give(bytes, number, false);
      }
    });
    changed_.notify_one();
    return success();
  }

  void close_publisher(const ClientPublisher& publisher, const std::string& topic,
                       const std::string& client) {
    const std::lock_guard lock(mutex_);
    Topic& carried = topics_[topic];
    carried.publishers.erase(carried.publishers.find(client));
    if (carried.publishers.empty()) return;  // The last message of the last publisher stays.
    std::erase_if(carried.latched, [&](const Latched& one) { return one.by == &publisher; });
  }
  void close_subscription(const std::string& topic,
                          const std::shared_ptr<SharedSubscription>& shared) {
    const std::lock_guard lock(mutex_);
    std::erase(topics_[topic].subscriptions, shared);
  }
  void close_server(const std::string& service, const ServedService& served_service) {
    const std::lock_guard lock(mutex_);
    servers_.erase(service);
    for (const auto& call : served_service.calls) {
      tasks_.push_back([call = call.lock(), service] {
        if (call) call->end(Error{Code::disconnected, service + " has lost its server", service});
      });
    }
    changed_.notify_one();
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (!ending_) {
      std::function<void()> task;
      if (!later_.empty() && later_.begin()->first <= monotonic_now()) {
        task = std::move(later_.begin()->second);
        later_.erase(later_.begin());
      } else if (!tasks_.empty()) {
        task = std::move(tasks_.front());
        tasks_.pop_front();
      } else if (later_.empty()) {
        changed_.wait(lock);
        continue;
      } else {
        const auto left = later_.begin()->first - monotonic_now();
        changed_.wait_for(lock, std::chrono::nanoseconds(left.ns));
        continue;
      }
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, TypeInfo, std::less<>> types_;
  std::map<std::string, ServiceTypeInfo, std::less<>> service_types_;
  std::map<std::string, ActionTypeInfo, std::less<>> action_types_;
  std::map<std::string, Topic> topics_;
  std::map<std::string, std::shared_ptr<ServedService>> servers_;
  std::set<std::string> denied_;
  std::set<std::string> overrun_;
  std::set<std::string> full_;
  std::string blank_ = std::string(1, '\0');
  std::function<bool(const Client&, Use, std::string_view)> rules_;
  std::map<std::string, std::uint64_t, std::less<>> counts_;
  std::map<std::string, std::string, std::less<>> details_;
  std::function<Result<void>(const TypeInfo&, std::span<const std::byte>)> check_;
  std::deque<std::function<void()>> tasks_;
  std::multimap<Time, std::function<void()>> later_;
  std::uint64_t published_ = 0;
  std::optional<std::string> read_early_;
  std::atomic<std::uint64_t> loans_ = 0;
  bool ending_ = false;
  FakeActions actions_{[this](std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }};
  FakeParams params_{[this](std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    changed_.notify_one();
  }};
  std::thread worker_;  ///< last, because it uses all members above
};

}  // namespace hyphos::gateway
