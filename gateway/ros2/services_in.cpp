#include "gateway/ros2/services_in.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "base/mutex.hpp"
#include "gateway/ros2/call.hpp"
#include "gateway/ros2/names.hpp"
#include "gateway/ros2/node_graph.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr Qos kCalls{.reliable = true, .transient_local = false, .depth = 256};
/// Maximum number of calls to one service that wait for replies.
constexpr std::size_t kMostCalls = 1024;
/// Time that a participant gets to discover both the gateway's readers and its writers. They are
/// announced in two streams, and either may begin with a loss that is repaired after a second. A
/// server that knew the request writer but not the reply reader would send no reply.
constexpr Duration kIntroduction = Duration::from_seconds(1.5);

std::uint64_t client_number(const GUID_t& guid) {
  const Gid gid = gid_of(guid);
  std::uint64_t number = 0;
  std::memcpy(&number, gid.data() + gid.size() - sizeof number, sizeof number);
  return number;
}

/// The format of rmw_cyclonedds_cpp: the participant, and a number.
std::string new_client_id(const Participant& participant) {
  static std::atomic<std::uint32_t> last = 0;
  std::string id;
  for (const std::uint8_t byte : participant.gid()) id += std::to_string(byte) + ".";
  return id + std::to_string(++last);
}

}  // namespace

/// One service: represents the server in ROS. After its end it uses no object of the gateway, so a
/// call that arrives at that moment is harmless.
class ServicesIn::Proxy : public std::enable_shared_from_this<Proxy> {
 public:
  Proxy(const Context& context, std::string service, Offered offered)
      : context_(context),
        service_(std::move(service)),
        offered_(std::move(offered)),
        requests_(context.participant, {.matched = context.wake}),
        replies_(context.participant, [this](const Received& message) { on_message(message); },
                 {.matched = context.wake}) {}

  Result<void> open() {
    const std::string id = put_user_data(kClientId, new_client_id(*context_.participant)) +
                           user_data_of_service(context_.facade.types(), offered_.type);
    auto opened = replies_.open(
        {dds_reply(service_), dds_type(offered_.type + "_Response", "srv"), kCalls, id});
    if (!opened) return opened;
    opened = requests_.open(
        {dds_request(service_), dds_type(offered_.type + "_Request", "srv"), kCalls, id});
    const MutexLock lock(mutex_);
    header_.client = client_number(requests_.guid());
    return opened;
  }

  [[nodiscard]] bool is_of(const Offered& offered) const {
    return offered.type == offered_.type &&
           is_cyclone(offered.server) == is_cyclone(offered_.server);
  }
  void add_endpoints(OwnEndpoints& endpoints) const {
    endpoints.writers.push_back(
        {dds_request(service_), dds_type(offered_.type + "_Request", "srv"), kCalls});
    endpoints.readers.push_back(
        {dds_reply(service_), dds_type(offered_.type + "_Response", "srv"), kCalls});
  }
  [[nodiscard]] GUID_t reader() const { return replies_.guid(); }
  [[nodiscard]] GUID_t writer() const { return requests_.guid(); }

  /// Becomes a service of the robot once the server is reachable. Ends calls that took too long.
  Result<void> look() {
    expire();
    if (server_ || requests_.matched() == 0 || replies_.matched() == 0) return success();
    if (monotonic_now() < context_.discovery->known_since(offered_.server) + kIntroduction) {
      return success();
    }
    auto server = context_.facade.services().open_server(
        client_of(context_.nodes->node_of(offered_.server)), service_, offered_.type, Form::cdr,
        [weak = weak_from_this()](const Buffer& request, Answer answer) {
          if (const auto proxy = weak.lock()) return proxy->call(request, std::move(answer));
          answer(Error{Code::disconnected, "the gateway is shut down", {}});
        });
    if (!server) return server.error();
    server_ = std::move(*server);
    return success();
  }

  void end() HYPHOS_EXCLUDES(mutex_) {
    server_.reset();
    std::map<std::int64_t, Waiting> waiting;
    {
      const MutexLock lock(mutex_);
      ended_ = true;
      waiting.swap(waiting_);
    }
    for (auto& [call, one] : waiting) {
      one.answer(Error{Code::disconnected, "the server in ROS is no longer available", service_});
    }
    replies_.close();
    requests_.close();
  }

 private:
  struct Waiting {
    Answer answer;
    Time deadline;
  };

  void call(const Buffer& request, Answer answer) HYPHOS_EXCLUDES(mutex_) {
    Result<void> sent = success();
    {
      // Held during the send, so that the reply cannot arrive before the call is recorded.
      const MutexLock lock(mutex_);
      if (ended_) {
        sent = Error{Code::disconnected, "the server in ROS is no longer available", service_};
      } else if (waiting_.size() >= kMostCalls) {
        sent = Error{Code::overloaded,
                     std::to_string(kMostCalls) + " calls already wait for replies, the maximum",
                     service_};
      } else {
        const auto number = send(request);
        if (number) {
          waiting_[*number] = {std::move(answer), monotonic_now() + context_.settings.call_timeout};
        } else {
          sent = number.error();
        }
      }
    }
    if (!sent) answer(sent.error());
  }

  /// Returns the number that the reply will carry.
  Result<std::int64_t> send(const Buffer& request) HYPHOS_REQUIRES(mutex_) {
    if (is_cyclone(offered_.server)) {
      if (request.size() < 4) return Error{Code::corrupt, "the request is not CDR", service_};
      ++header_.call;
      const auto sent = requests_.write(put_header(header_, request.bytes()));
      if (!sent) return sent.error();
      return header_.call;
    }
    SampleIdentity answer_to;
    answer_to.writer_guid(replies_.guid());
    const auto sent = requests_.write(request.bytes(), answer_to);
    if (!sent) return sent.error();
    return static_cast<std::int64_t>(sent->sequence_number().to64long());
  }

  void on_message(const Received& message) {
    if (message.too_large > 0) {
      return context_.facade.clients().count(
          client_of(service_), "too_large",
          "the reply has " + std::to_string(message.too_large) + " bytes. Raise --max-message");
    }
    if (is_cyclone(message.info.sample_identity.writer_guid())) {
      std::vector<std::byte> body;
      const auto header = take_header(message.bytes, body);
      if (!header || !is_own(*header)) return;  // reply to another client
      return finish(header->call, Buffer::adopt(std::move(body)));
    }
    const SampleIdentity& call = message.info.related_sample_identity;
    if (call.writer_guid() != replies_.guid() && call.writer_guid() != requests_.guid()) return;
    finish(static_cast<std::int64_t>(call.sequence_number().to64long()),
           Buffer::copy_of(message.bytes));
  }

  [[nodiscard]] bool is_own(const CallHeader& header) {
    const MutexLock lock(mutex_);
    return header.client == header_.client;
  }

  void finish(std::int64_t call, Buffer reply) HYPHOS_EXCLUDES(mutex_) {
    Answer answer;
    {
      const MutexLock lock(mutex_);
      const auto found = waiting_.find(call);
      if (found == waiting_.end()) return;  // the reply is too late, or from a second server
      answer = std::move(found->second.answer);
      waiting_.erase(found);
    }
    answer(std::move(reply));
  }

  void expire() HYPHOS_EXCLUDES(mutex_) {
    std::vector<Answer> late;
    {
      const MutexLock lock(mutex_);
      const Time now = monotonic_now();
      std::erase_if(waiting_, [&](auto& entry) {
        if (now < entry.second.deadline) return false;
        late.push_back(std::move(entry.second.answer));
        return true;
      });
    }
    for (const Answer& answer : late) {
      answer(Error{Code::timeout, "the server in ROS did not reply in time", service_});
    }
  }

  const Context& context_;
  const std::string service_;
  const Offered offered_;
  std::unique_ptr<Server> server_;
  Mutex mutex_;
  bool ended_ HYPHOS_GUARDED_BY(mutex_) = false;
  CallHeader header_ HYPHOS_GUARDED_BY(mutex_);
  /// by the number of the call
  std::map<std::int64_t, Waiting> waiting_ HYPHOS_GUARDED_BY(mutex_);
  Writer requests_;
  Reader replies_;  ///< declared last, because it uses all members above
};

std::map<std::string, Offered> offered_services(const DomainState& state) {
  std::map<std::string, Offered> offered;
  for (const auto& [guid, reader] : state.readers) {
    const auto topic = service_of_dds(reader.topic);
    const auto type = service_type_of_dds(reader.type);
    if (!topic || !topic->is_request || !type || !is_name(topic->service)) continue;
    offered.emplace(topic->service, Offered{*type, guid});
  }
  std::set<std::string> answering;
  for (const auto& [guid, writer] : state.writers) {
    const auto topic = service_of_dds(writer.topic);
    if (topic && !topic->is_request) answering.insert(topic->service);
  }
  std::erase_if(offered, [&](const auto& entry) { return !answering.contains(entry.first); });
  return offered;
}

ServicesIn::ServicesIn(const Context& context) : context_(context) {}
ServicesIn::~ServicesIn() {
  while (!proxies_.empty()) end(std::string(proxies_.begin()->first));
}

void ServicesIn::end(const std::string& service) {
  proxies_[service]->end();
  proxies_.erase(service);
}

void ServicesIn::look(const DomainState& state) {
  const auto offered = offered_services(state);
  std::vector<std::string> gone;
  for (const auto& [service, proxy] : proxies_) {
    const auto now = offered.find(service);
    if (now == offered.end() || !proxy->is_of(now->second)) gone.push_back(service);
  }
  for (const std::string& service : gone) end(service);
  for (const auto& [service, offer] : offered) {
    if (proxies_.contains(service) || !context_.settings.services.match(service) ||
        !refused_.may_try(service)) {
      continue;
    }
    auto& proxy = proxies_[service] = std::make_shared<Proxy>(context_, service, offer);
    auto opened = context_.facade.types().service(offer.type).ok()
                      ? proxy->open()
                      : Result<void>(context_.facade.types().service(offer.type).error());
    if (opened) continue;
    if (refused_.failed(service)) {
      context_.facade.clients().note(client_of(service), to_string(opened.error().code),
                                     "the service is left out: " + opened.error().to_string());
    }
    end(service);
  }
  for (auto& [service, proxy] : proxies_) {
    const auto looked = proxy->look();
    if (looked) continue;
    if (looked.error().code == Code::disconnected) return;  // the gateway's node is shutting down
    if (refused_.failed(service + " server")) {
      context_.facade.clients().note(client_of(service), to_string(looked.error().code),
                                     "the service is left out: " + looked.error().to_string());
    }
  }
}

std::vector<GUID_t> ServicesIn::readers() const {
  std::vector<GUID_t> readers;
  for (const auto& [service, proxy] : proxies_) readers.push_back(proxy->reader());
  return readers;
}

std::vector<GUID_t> ServicesIn::writers() const {
  std::vector<GUID_t> writers;
  for (const auto& [service, proxy] : proxies_) writers.push_back(proxy->writer());
  return writers;
}

void ServicesIn::add_endpoints(OwnEndpoints& endpoints) const {
  for (const auto& [service, proxy] : proxies_) proxy->add_endpoints(endpoints);
}

}  // namespace hyphos::gateway::ros2
