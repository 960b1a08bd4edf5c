#include "gateway/ros2/services_out.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "base/mutex.hpp"
#include "gateway/ros2/call.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/names.hpp"
#include "gateway/ros2/node_graph.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr Qos kServerQos{.reliable = true, .transient_local = false, .depth = 256};
/// Maximum number of replies that wait until their client has discovered the gateway.
constexpr std::size_t kMostEarly = 64;
constexpr Duration kEarly = Duration::from_seconds(30);

}  // namespace

/// One service of the robot that ROS programs call. Replies after its end are not sent.
class ServicesOut::Desk : public std::enable_shared_from_this<Desk> {
 public:
  /// `handler` replies to requests. If it is null, the robot's service of this name replies.
  Desk(const Context& context, std::string service, std::string type, CallerHandler handler = {})
      : context_(context),
        service_(std::move(service)),
        type_(std::move(type)),
        handler_(std::move(handler)),
        replies_(context.participant, {.matched = context.wake}),
        requests_(context.participant, [this](const Received& message) { on_message(message); },
                  {}) {}

  Result<void> open() {
    const std::string hash = user_data_of_service(context_.facade.types(), type_);
    auto opened = replies_.open(
        {dds_reply(service_), dds_type(type_ + "_Response", "srv"), kServerQos, hash});
    if (!opened) return opened;
    return requests_.open(
        {dds_request(service_), dds_type(type_ + "_Request", "srv"), kServerQos, hash});
  }
  void end() {
    requests_.close();
    {
      const MutexLock lock(mutex_);
      ended_ = true;
    }
    replies_.close();
  }

  /// Sends replies whose clients have meanwhile discovered the gateway. Drops replies that waited
  /// too long.
  void look() {
    std::deque<Early> early;
    {
      const MutexLock lock(mutex_);
      early.swap(early_);
    }
    const Time now = monotonic_now();
    for (Early& one : early) {
      if (one.until < now) {
        context_.facade.clients().count(
            client_of(service_), "no_client",
            "a reply was dropped, because its client did not discover the gateway within 30 s");
      } else {
        answer(one.call_client, std::move(one.reply), one.until);
      }
    }
  }

  [[nodiscard]] const std::string& type() const { return type_; }
  void add_endpoints(OwnEndpoints& endpoints) const {
    endpoints.writers.push_back(
        {dds_reply(service_), dds_type(type_ + "_Response", "srv"), kServerQos});
    endpoints.readers.push_back(
        {dds_request(service_), dds_type(type_ + "_Request", "srv"), kServerQos});
  }
  [[nodiscard]] GUID_t reader() const { return requests_.guid(); }
  [[nodiscard]] GUID_t writer() const { return replies_.guid(); }

 private:
  /// The destination of a reply.
  struct PooledCallClient {
    SampleIdentity call;  ///< for Fast DDS
    bool has_reader = false;
    std::optional<CallHeader> header;  ///< for Cyclone DDS
    std::string client_id;             ///< for Cyclone DDS, if the client announced one
  };
  struct Early {
    PooledCallClient call_client;
    Buffer reply;
    Time until;
  };

  void on_message(const Received& message) {
    const Client client =
        client_of(context_.nodes->node_of(message.info.sample_identity.writer_guid()));
    if (message.too_large > 0) {
      return context_.facade.clients().count(client, "too_large",
                                             service_ + ": the request has " +
                                                 std::to_string(message.too_large) +
                                                 " bytes. Raise --max-message");
    }
    PooledCallClient call_client;
    std::vector<std::byte> body;
    std::span<const std::byte> request = message.bytes;
    if (is_cyclone(message.info.sample_identity.writer_guid())) {
      call_client.header = take_header(message.bytes, body);
      if (!call_client.header)
        return context_.facade.clients().count(
            client, "corrupt", service_ + ": the request has no header of Cyclone DDS");
      request = body;
      call_client.client_id =
          context_.discovery->client_id(message.info.sample_identity.writer_guid());
    } else {
      call_client.call = message.info.sample_identity;
      const GUID_t& answers_at = message.info.related_sample_identity.writer_guid();
      call_client.has_reader = answers_at != GUID_t::unknown();
      if (call_client.has_reader) call_client.call.writer_guid(answers_at);
    }
    if (!begin(client)) return;
    Answer answer = [weak = weak_from_this(), call_client, client](Result<Buffer> reply) {
      if (const auto desk = weak.lock()) desk->finish(client, call_client, std::move(reply));
    };
    if (handler_) {
      return handler_({client, message.info.sample_identity.writer_guid()}, request, answer);
    }
    context_.facade.services().call(client, service_, type_, Form::cdr, request,
                                    context_.settings.call_timeout, std::move(answer));
  }

  bool begin(const Client& client) {
    const std::size_t most = context_.settings.limits.calls;
    {
      const MutexLock lock(mutex_);
      if (under_way_ < most) {
        ++under_way_;
        return true;
      }
    }
    context_.facade.clients().count(
        client, "overloaded",
        at_limit("service " + service_, most, "calls in flight", "--max-calls"));
    return false;
  }

  void finish(const Client& client, const PooledCallClient& call_client, Result<Buffer> reply) {
    {
      const MutexLock lock(mutex_);
      --under_way_;
      // ROS cannot report a failure: the caller waits until its timeout.
      if (!ended_ && !reply) {
        context_.facade.clients().count(client, "call_failed",
                                        service_ + ": " + reply.error().to_string());
      }
      if (ended_ || !reply) return;
    }
    answer(call_client, std::move(*reply), monotonic_now() + kEarly);
  }

  void answer(const PooledCallClient& call_client, Buffer reply, Time until) {
    const MutexLock lock(mutex_);
    if (ended_) return;
    if (!is_heard_by(call_client)) {
      if (early_.size() < kMostEarly) {
        early_.push_back({call_client, std::move(reply), until});
      } else {
        context_.facade.clients().count(
            client_of(service_), "no_client",
            "a reply was dropped, because too many replies wait for their clients");
      }
      return;
    }
    const auto sent = call_client.header && reply.size() >= 4
                          ? replies_.write(put_header(*call_client.header, reply.bytes()))
                          : replies_.write(reply.bytes(), call_client.call);
    if (!sent) {
      context_.facade.clients().count(client_of(service_), to_string(sent.error().code),
                                      sent.error().message);
    }
  }

  /// Returns false if a reply sent now would be lost. A client that does not announce its reader is
  /// assumed to be ready.
  [[nodiscard]] bool is_heard_by(const PooledCallClient& call_client) const {
    if (call_client.has_reader) return replies_.matches(call_client.call.writer_guid());
    if (call_client.client_id.empty()) return true;
    return std::ranges::any_of(replies_.readers(), [&](const GUID_t& reader) {
      return context_.discovery->client_id(reader) == call_client.client_id;
    });
  }

  const Context& context_;
  const std::string service_;
  const std::string type_;
  const CallerHandler handler_;
  Mutex mutex_;
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
  std::size_t under_way_ HYPHOS_GUARDED_BY(mutex_) = 0;
  std::deque<Early> early_ HYPHOS_GUARDED_BY(mutex_);
  Writer replies_;
  Reader requests_;  ///< declared last, because it uses all members above
};

ServicesOut::ServicesOut(const Context& context) : context_(context) {}
ServicesOut::~ServicesOut() {
  for (const auto& [service, desk] : desks_) desk->end();
  end_own();
}

void ServicesOut::end_own() {
  for (const auto& [service, desk] : own_) desk->end();
  own_.clear();
}

void ServicesOut::add_endpoints(const std::string& service, NodeEntities& node) const {
  const auto found = own_.find(service);
  if (found == own_.end()) return;
  node.readers.push_back(gid_of(found->second->reader()));
  node.writers.push_back(gid_of(found->second->writer()));
}

Result<void> ServicesOut::serve(const std::string& service, const std::string& type,
                                Handler handler) {
  return serve(service, type,
               CallerHandler([handler = std::move(handler)](
                                 const Caller&, std::span<const std::byte> request,
                                 const Answer& answer) { handler(request, answer); }));
}

Result<void> ServicesOut::serve(const std::string& service, const std::string& type,
                                CallerHandler handler) {
  auto desk = std::make_shared<Desk>(context_, service, type, std::move(handler));
  auto opened = desk->open();
  if (opened) own_.emplace(service, std::move(desk));
  return opened;
}

void ServicesOut::withdraw(const std::string& service) {
  const auto found = own_.find(service);
  if (found == own_.end()) return;
  found->second->end();
  own_.erase(found);
}

void ServicesOut::look(const std::vector<ServiceInfo>& services, const ServicesIn& in) {
  std::map<std::string, std::string> wanted;  // type by service
  for (const ServiceInfo& info : services) {
    if (info.type.empty() || in.has(info.name) || own_.contains(info.name) ||
        is_client(info.node) || !is_name(info.name) || !context_.settings.calls.match(info.name)) {
      continue;
    }
    wanted.emplace(info.name, ros2_type(info.type, "srv"));
  }
  std::erase_if(desks_, [&](const auto& entry) {
    const auto now = wanted.find(entry.first);
    const bool gone = now == wanted.end() || now->second != entry.second->type();
    if (gone) entry.second->end();
    return gone;
  });
  for (const auto& [service, type] : wanted) {
    if (desks_.contains(service) || !refused_.may_try(service)) continue;
    auto desk = std::make_shared<Desk>(context_, service, type);
    if (const auto opened = desk->open(); opened) {
      refused_.forget(service);
      desks_.emplace(service, std::move(desk));
    } else if (refused_.failed(service)) {
      context_.facade.clients().note(client_of(service), to_string(opened.error().code),
                                     "the service is left out: " + opened.error().to_string());
    }
  }
  for (const auto* const desks : {&desks_, &own_}) {
    for (const auto& [service, desk] : *desks) desk->look();
  }
}

std::vector<GUID_t> ServicesOut::readers() const {
  std::vector<GUID_t> readers;
  for (const auto* const desks : {&desks_, &own_}) {
    for (const auto& [service, desk] : *desks) readers.push_back(desk->reader());
  }
  return readers;
}

std::vector<GUID_t> ServicesOut::writers() const {
  std::vector<GUID_t> writers;
  for (const auto* const desks : {&desks_, &own_}) {
    for (const auto& [service, desk] : *desks) writers.push_back(desk->writer());
  }
  return writers;
}

void ServicesOut::add_endpoints(OwnEndpoints& endpoints) const {
  for (const auto* const desks : {&desks_, &own_}) {
    for (const auto& [service, desk] : *desks) desk->add_endpoints(endpoints);
  }
}

}  // namespace hyphos::gateway::ros2
