#include "gateway/ros2/topics_in.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/mutex.hpp"
#include "gateway/facade/channel_names.hpp"
#include "gateway/ros2/backlog.hpp"
#include "gateway/ros2/names.hpp"
#include "gateway/ros2/node_graph.hpp"

namespace hyphos::gateway::ros2 {

/// One topic: a ROS reader, and the client publisher that gets its messages.
class TopicsIn::Inbound {
 public:
  Inbound(const Context& context, std::string topic)
      : context_(context),
        topic_(std::move(topic)),
        backlog_(static_cast<std::size_t>(context.settings.depth),
                 [this](const Error& error) { lost(error); }) {}

  Result<void> open(const Offer& offer) {
    type_ = offer.type;
    qos_ = offer.qos;
    auto publisher = open_publisher();
    if (!publisher) return publisher.error();
    publisher_ = std::move(*publisher);
    follow_writers(offer);
    return ask(offer);
  }
  /// Returns true if it can continue with the new offer. Returns false if it must be reopened.
  bool follow(const Offer& offer) {
    if (offer.type != type_ || offer.qos.transient_local != qos_.transient_local) return false;
    follow_writers(offer);
    return offer.qos.reliable == qos_.reliable || ask(offer).ok();
  }
  [[nodiscard]] GUID_t reader() const { return reader_->guid(); }
  bool drain() { return backlog_.drain(); }
  [[nodiscard]] OwnEndpoint endpoint() const {
    return {dds_topic(topic_), dds_type(type_), asked_};
  }

 private:
  /// Uses the promises of the first writers, because a channel keeps the policy with which it was
  /// opened.
  Result<std::unique_ptr<ClientPublisher>> open_publisher() {
    const bool log = is_rosout(topic_, type_);
    return context_.facade.topics().open_publisher(
        client_of(topic_), log ? std::string(kLogTopic) : topic_, type_, Form::cdr,
        {.latched = qos_.transient_local,
         .depth = static_cast<std::uint32_t>(context_.settings.depth),
         .reliable = qos_.reliable,
         .deadline_ms = qos_.deadline_ms,
         .lifespan_ms = qos_.lifespan_ms,
         .raw = context_.settings.raw.match(topic_)});
  }
  /// Each latched writer has its own client publisher, so that its last message is kept separately.
  void follow_writers(const Offer& offer) {
    std::vector<std::shared_ptr<ClientPublisher>> gone;  // destroyed after the lock is released
    std::vector<GUID_t> come;
    {
      const MutexLock lock(mutex_);
      std::erase_if(last_, [&](const auto& entry) { return !offer.writers.contains(entry.first); });
      std::erase_if(latched_, [&](auto& entry) {
        if (offer.writers.contains(entry.first)) return false;
        gone.push_back(std::move(entry.second));
        return true;
      });
      for (const GUID_t& writer : offer.writers) {
        if (qos_.transient_local && !latched_.contains(writer)) come.push_back(writer);
      }
    }
    for (const GUID_t& writer : come) {
      auto publisher = open_publisher();
      if (!publisher) continue;  // the common client publisher accepts its messages
      const MutexLock lock(mutex_);
      latched_.emplace(writer, std::move(*publisher));
    }
  }
  std::shared_ptr<ClientPublisher> publisher_for(const GUID_t& writer) {
    const MutexLock lock(mutex_);
    const auto own = latched_.find(writer);
    return own == latched_.end() ? publisher_ : own->second;
  }

  Result<void> ask(const Offer& offer) {
    qos_ = offer.qos;
    // Requests no deadline, so that every writer matches. The channel enforces its own.
    const Qos asked{qos_.reliable, qos_.transient_local, context_.settings.depth};
    asked_ = asked;
    reader_.reset();
    // All client publishers of one channel lend the same memory.
    reader_.emplace(
        context_.participant, [this](const Received& message) { on_message(message); },
        EndpointEvents{},
        [publisher = publisher_](std::size_t size) { return publisher->loan(size); });
    return reader_->open({dds_topic(topic_), dds_type(type_), asked,
                          user_data_of_type(context_.facade.types(), type_)});
  }

  void on_message(const Received& message) {
    if (message.too_large > 0) {
      context_.facade.clients().count(
          client_of(topic_), "too_large",
          std::to_string(message.too_large) + " bytes of " +
              context_.nodes->node_of(message.info.sample_identity.writer_guid()));
      return;
    }
    if (!is_new(message.info.sample_identity)) return;
    const auto publisher = publisher_for(message.info.sample_identity.writer_guid());
    if (backlog_.publish(publisher, message.bytes, message.within)) context_.drain();
  }

  void lost(const Error& error) {
    // The graph facade has already counted the messages that it refused.
    const Code code = error.code;
    if (code == Code::corrupt || code == Code::permission || code == Code::timeout) return;
    context_.facade.clients().count(client_of(topic_), to_string(code), error.to_string());
  }

  /// A reader that replaces another one receives latched messages again.
  bool is_new(const SampleIdentity& sample) {
    const MutexLock lock(mutex_);
    const auto [last, is_first] = last_.emplace(sample.writer_guid(), sample.sequence_number());
    if (is_first) return true;
    if (!(last->second < sample.sequence_number())) return false;
    last->second = sample.sequence_number();
    return true;
  }

  const Context& context_;
  const std::string topic_;
  std::string type_;
  Qos qos_;
  Qos asked_;  ///< requested by the reader
  std::shared_ptr<ClientPublisher> publisher_;
  Mutex mutex_;
  std::map<GUID_t, eprosima::fastrtps::rtps::SequenceNumber_t> last_ HYPHOS_GUARDED_BY(mutex_);
  std::map<GUID_t, std::shared_ptr<ClientPublisher>> latched_ HYPHOS_GUARDED_BY(mutex_);
  Backlog backlog_;
  std::optional<Reader> reader_;  ///< declared last, because it uses all members above
};

std::map<std::string, Offer> offers_of(const Remotes& writers) {
  std::map<std::string, std::map<std::string, Offer>> all;  // by topic and type
  for (const auto& [guid, writer] : writers) {
    const auto topic = topic_of_dds(writer.topic);
    const auto type = type_of_dds(writer.type);
    if (!topic || !type || !is_name(*topic)) continue;
    Offer& offer = all[*topic][*type];
    Qos& all_of = offer.qos;
    const bool first = offer.writers.empty();
    const bool promise = writer.qos.deadline_ms > 0 && (first || all_of.deadline_ms > 0);
    offer.type = *type;
    all_of.reliable = all_of.reliable && writer.qos.reliable;
    all_of.transient_local = all_of.transient_local && writer.qos.transient_local;
    const bool expires = writer.qos.lifespan_ms > 0 && (first || all_of.lifespan_ms > 0);
    all_of.lifespan_ms = expires ? std::max(all_of.lifespan_ms, writer.qos.lifespan_ms) : 0;
    all_of.deadline_ms = promise ? std::max(all_of.deadline_ms, writer.qos.deadline_ms) : 0;
    offer.writers.insert(guid);
  }
  std::map<std::string, Offer> offers;
  for (auto& [topic, types] : all) {
    Offer* most = nullptr;
    for (auto& [type, offer] : types) {
      if (most == nullptr || offer.writers.size() > most->writers.size()) most = &offer;
    }
    offers.emplace(topic, std::move(*most));
  }
  return offers;
}

namespace {

/// The channel of log lines is not latched. Otherwise a gateway would repeat the lines of ROS,
/// which keeps 1,000 of each node, after each start.
void keep_to_channel(Offer& offer) {
  offer.qos.transient_local = false;
  offer.qos.lifespan_ms = 0;
}

}  // namespace

TopicsIn::TopicsIn(const Context& context) : context_(context) {}
TopicsIn::~TopicsIn() = default;

void TopicsIn::look(const DomainState& state) {
  auto offers = offers_of(state.writers);
  for (auto& [topic, offer] : offers) {
    if (is_rosout(topic, offer.type)) keep_to_channel(offer);
  }
  std::erase_if(inbound_, [&](const auto& entry) {
    const auto offer = offers.find(entry.first);
    return offer == offers.end() || !entry.second->follow(offer->second);
  });
  for (const auto& [topic, offer] : offers) {
    const std::string key = topic + " " + offer.type;
    if (inbound_.contains(topic) || !context_.settings.topics.match(topic) ||
        !refused_.may_try(key)) {
      continue;
    }
    auto inbound = std::make_unique<Inbound>(context_, topic);
    if (const auto opened = inbound->open(offer); opened) {
      refused_.forget(key);
      inbound_.emplace(topic, std::move(inbound));
    } else if (opened.error().code == Code::disconnected) {
      return;  // the gateway's node is shutting down
    } else if (refused_.failed(key)) {
      context_.facade.clients().note(client_of(topic), to_string(opened.error().code),
                                     "the topic is left out: " + opened.error().to_string());
    }
  }
}

bool TopicsIn::drain() {
  bool waits = false;
  for (const auto& [topic, inbound] : inbound_) waits = inbound->drain() || waits;
  return waits;
}

std::vector<GUID_t> TopicsIn::readers() const {
  std::vector<GUID_t> readers;
  for (const auto& [topic, inbound] : inbound_) readers.push_back(inbound->reader());
  return readers;
}

void TopicsIn::add_endpoints(OwnEndpoints& endpoints) const {
  for (const auto& [topic, inbound] : inbound_) endpoints.readers.push_back(inbound->endpoint());
}

}  // namespace hyphos::gateway::ros2
