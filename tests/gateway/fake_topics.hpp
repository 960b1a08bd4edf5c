#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gateway/facade/topics.hpp"
#include "hyphos/time.hpp"
#include "tests/gateway/fake_clients.hpp"
#include "tests/gateway/fake_pool.hpp"
#include "tests/gateway/fake_types.hpp"

namespace hyphos::gateway {

/// The topics of a FakeGraph. Messages come out byte for byte, in every encoding. Thread-safe.
class FakeTopics final : public Topics {
 public:
  FakeTopics(FakePool& pool, const FakeTypes& types, FakeClients& clients)
      : pool_(pool), types_(types), clients_(clients) {}

  /// Sets a check of each opening of a publisher, which may refuse it.
  using OpeningCheck =
      std::function<Result<void>(const std::string& topic, const std::string& type)>;
  void check_opening(OpeningCheck check) {
    const std::lock_guard lock(mutex_);
    check_opening_ = std::move(check);
  }
  /// Sets a check of each opening of a subscription, which may refuse it.
  void check_subscribing(OpeningCheck check) {
    const std::lock_guard lock(mutex_);
    check_subscribing_ = std::move(check);
  }
  /// Sets a check of each published message. A refused message is counted and not delivered.
  using MessageCheck = std::function<Result<void>(const TypeInfo&, std::span<const std::byte>)>;
  void check(MessageCheck check) {
    const std::lock_guard lock(mutex_);
    check_ = std::move(check);
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
  /// Adds a channel of the graph that no client can use, such as one without a ROS type.
  void add_foreign(TopicInfo info) {
    const std::lock_guard lock(mutex_);
    foreign_.push_back(std::move(info));
  }
  /// From now on, each message of this topic finds its queue full.
  void overrun(const std::string& topic) {
    const std::lock_guard lock(mutex_);
    overrun_.insert(topic);
  }
  /// The number of open client publishers and client subscriptions.
  [[nodiscard]] std::size_t open() const {
    const std::lock_guard lock(mutex_);
    std::size_t count = 0;
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
    if (check_opening_) {
      if (auto checked = check_opening_(topic, type); !checked) return checked.error();
    }
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
    if (check_subscribing_) {
      if (auto checked = check_subscribing_(topic, type); !checked) return checked.error();
    }
    const auto known = admit(topic, type);
    if (!known) return known.error();
    Topic& carried = topics_[topic];
    carried.type = *known;
    auto listener = std::make_shared<Listener>(client, std::move(callback));
    carried.subscriptions.push_back(listener);
    for (const Latched& last : carried.latched) {
      if (!listener->hears(last.group)) continue;
      pool_.post([listener, last] { listener->give(last.bytes, last.number, true); });
    }
    return std::unique_ptr<ClientSubscription>(
        new FakeSubscription(*this, topic, *known, std::move(listener)));
  }

  [[nodiscard]] std::vector<TopicInfo> list() const override {
    const std::lock_guard lock(mutex_);
    std::vector<TopicInfo> list = foreign_;
    for (const auto& [name, topic] : topics_) {
      TopicInfo& info = list.emplace_back();
      info.topic = name;
      info.type = topic.type.name;
      info.latched = !topic.latched.empty();
      info.reliable = topic.options.reliable;
      info.depth = topic.options.depth > 0 ? topic.options.depth : 10;
      info.deadline_ms = topic.options.deadline_ms;
      info.lifespan_ms = topic.options.lifespan_ms;
      info.publishers.assign(topic.publishers.begin(), topic.publishers.end());
      for (const auto& listener : topic.subscriptions) info.subscribers.push_back(listener->client);
    }
    return list;
  }
  [[nodiscard]] std::vector<std::string> nodes() const override {
    std::set<std::string> names;
    for (const TopicInfo& topic : list()) {
      names.insert(topic.publishers.begin(), topic.publishers.end());
      names.insert(topic.subscribers.begin(), topic.subscribers.end());
    }
    return {names.begin(), names.end()};
  }

 private:
  /// The time and the sequence number of a message.
  struct Number {
    std::int64_t publish_ns = 0;
    std::uint64_t sequence = 0;
  };
  /// One client subscription. Its callback runs under its lock, so that its end waits for the
  /// callback.
  struct Listener {
    Listener(const Client& who, std::function<void(const OutgoingMessage&)> called)
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
    std::vector<std::shared_ptr<Listener>> subscriptions;
    std::vector<Latched> latched;  ///< the last message of each open publisher, the newest last
  };

  class FakePublisher final : public ClientPublisher {
   public:
    FakePublisher(FakeTopics& topics, Client client, std::string topic, TypeInfo type, bool latched)
        : topics_(topics),
          client_(std::move(client)),
          topic_(std::move(topic)),
          type_(std::move(type)),
          latched_(latched) {}
    ~FakePublisher() override { topics_.close_publisher(*this, topic_, client_.name); }
    FakePublisher(const FakePublisher&) = delete;
    FakePublisher& operator=(const FakePublisher&) = delete;
    Result<void> publish(std::span<const std::byte> message, const DecodeHint& within) override {
      if (within.decoded != nullptr) topics_.note_early(*within.decoded);
      if (keeps()) topics_.clients_.count(client_, "not_held_up", topic_);
      if (topics_.is_full(topic_)) {
        kept_ = Buffer::copy_of(message);
        return success();
      }
      if (topics_.is_overrun(topic_)) ++overruns_;
      return topics_.publish(latched_ ? this : nullptr, client_, topic_, type_, message);
    }
    [[nodiscard]] std::uint64_t overruns() const override { return overruns_; }
    WritableBuffer loan(std::size_t size) override {
      ++topics_.loans_;
      return ClientPublisher::loan(size);
    }
    [[nodiscard]] bool keeps() const override { return !kept_.empty(); }
    Result<bool> flush() override {
      if (kept_.empty()) return true;
      if (topics_.is_full(topic_)) return false;
      const Buffer kept = std::exchange(kept_, {});
      const auto done =
          topics_.publish(latched_ ? this : nullptr, client_, topic_, type_, kept.bytes());
      return done ? Result<bool>(true) : done.error();
    }
    [[nodiscard]] const TypeInfo& type() const override { return type_; }

   private:
    FakeTopics& topics_;
    const Client client_;
    const std::string topic_;
    const TypeInfo type_;
    const bool latched_;
    Buffer kept_;  ///< kept until there is room
    std::uint64_t overruns_ = 0;
  };

  class FakeSubscription final : public ClientSubscription {
   public:
    FakeSubscription(FakeTopics& topics, std::string topic, TypeInfo type,
                     std::shared_ptr<Listener> listener)
        : topics_(topics),
          topic_(std::move(topic)),
          type_(std::move(type)),
          listener_(std::move(listener)) {}
    ~FakeSubscription() override {
      topics_.close_subscription(topic_, listener_);
      listener_->end();
    }
    FakeSubscription(const FakeSubscription&) = delete;
    FakeSubscription& operator=(const FakeSubscription&) = delete;
    [[nodiscard]] const TypeInfo& type() const override { return type_; }

   private:
    FakeTopics& topics_;
    const std::string topic_;
    const TypeInfo type_;
    const std::shared_ptr<Listener> listener_;
  };

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
    if (const auto admitted = clients_.admit(topic); !admitted) return admitted.error();
    const auto carried = topics_.find(topic);
    const bool used = carried != topics_.end() && !(carried->second.publishers.empty() &&
                                                    carried->second.subscriptions.empty());
    if (type.empty()) {
      if (!used) return Error{Code::not_found, "no topic " + topic, topic};
      return carried->second.type;
    }
    auto known = types_.message(type);
    if (known && used && carried->second.type.name != type) {
      return Error{Code::type_mismatch, topic + " carries " + carried->second.type.name, topic};
    }
    return known;
  }

  /// `latched`: the publisher whose message stays latched, or nullptr.
  Result<void> publish(const ClientPublisher* latched, const Client& client,
                       const std::string& topic, const TypeInfo& type,
                       std::span<const std::byte> message) {
    if (auto checked = checked_message(type, message); !checked) {
      clients_.count({}, "corrupt", topic);
      return checked;
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
    pool_.post([listeners = carried.subscriptions, bytes = std::move(bytes), group = client.group,
                number] {
      for (const auto& listener : listeners) {
        if (listener->hears(group)) listener->give(bytes, number, false);
      }
    });
    return success();
  }
  Result<void> checked_message(const TypeInfo& type, std::span<const std::byte> message) {
    MessageCheck check;
    {
      const std::lock_guard lock(mutex_);
      check = check_;
    }
    return check ? check(type, message) : success();
  }

  void close_publisher(const ClientPublisher& publisher, const std::string& topic,
                       const std::string& client) {
    const std::lock_guard lock(mutex_);
    Topic& carried = topics_[topic];
    carried.publishers.erase(carried.publishers.find(client));
    if (carried.publishers.empty()) return;  // The last message of the last publisher stays.
    std::erase_if(carried.latched, [&](const Latched& one) { return one.by == &publisher; });
  }
  void close_subscription(const std::string& topic, const std::shared_ptr<Listener>& listener) {
    const std::lock_guard lock(mutex_);
    std::erase(topics_[topic].subscriptions, listener);
  }

  FakePool& pool_;
  const FakeTypes& types_;
  FakeClients& clients_;
  std::atomic<std::uint64_t> loans_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, Topic> topics_;
  std::vector<TopicInfo> foreign_;
  std::set<std::string> overrun_;
  std::set<std::string> full_;
  OpeningCheck check_opening_;
  OpeningCheck check_subscribing_;
  MessageCheck check_;
  std::uint64_t published_ = 0;
  std::optional<std::string> read_early_;
};

}  // namespace hyphos::gateway
