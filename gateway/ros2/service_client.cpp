#include "gateway/ros2/service_client.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "gateway/ros2/call.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/names.hpp"

namespace hyphos::gateway::ros2 {
namespace {

constexpr Qos kClientQos{.reliable = true, .transient_local = false, .depth = 256};
/// Time that a participant gets to discover both the gateway's readers and its writers. They are
/// announced in two streams, and either may begin with a loss that is repaired after a second. A
/// server that knew the request writer but not the reply reader would send no reply.
constexpr Duration kCallIntroduction = Duration::from_seconds(1.5);
/// Time that a known participant gets to discover the endpoints of a new client. It may receive a
/// request on another socket before that, and would lose it.
constexpr Duration kClientIntroduction = Duration::from_ms(300);

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

Error gone(const std::string& service) {
  return {Code::disconnected, "the server in ROS is no longer available", service};
}

}  // namespace

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

ServiceClient::ServiceClient(const Context& context, std::string service, Offered offered)
    : context_(context),
      service_(std::move(service)),
      offered_(std::move(offered)),
      requests_(context.participant, {.matched = context.wake}),
      replies_(context.participant, [this](const Received& message) { on_message(message); },
               {.matched = context.wake}) {}

Result<void> ServiceClient::open() {
  const std::string id = put_user_data(kClientId, new_client_id(*context_.participant)) +
                         user_data_of_service(context_.facade.types(), offered_.type);
  auto opened = replies_.open(
      {dds_reply(service_), dds_type(offered_.type + "_Response", "srv"), kClientQos, id});
  if (!opened) return opened;
  opened = requests_.open(
      {dds_request(service_), dds_type(offered_.type + "_Request", "srv"), kClientQos, id});
  opened_ = monotonic_now();
  const MutexLock lock(mutex_);
  header_.client = client_number(requests_.guid());
  return opened;
}

bool ServiceClient::is_of(const Offered& offered) const {
  return offered.type == offered_.type && is_cyclone(offered.server) == is_cyclone(offered_.server);
}

bool ServiceClient::is_ready() const {
  return requests_.matched() > 0 && replies_.matched() > 0 &&
         monotonic_now() >=
             std::max(opened_ + kClientIntroduction,
                      context_.discovery->known_since(offered_.server) + kCallIntroduction);
}

void ServiceClient::add_endpoints(OwnEndpoints& endpoints) const {
  endpoints.writers.push_back(
      {dds_request(service_), dds_type(offered_.type + "_Request", "srv"), kClientQos});
  endpoints.readers.push_back(
      {dds_reply(service_), dds_type(offered_.type + "_Response", "srv"), kClientQos});
}

void ServiceClient::end() {
  std::map<std::int64_t, Waiting> waiting;
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    waiting.swap(waiting_);
  }
  for (auto& [call, one] : waiting) one.answer(gone(service_));
  replies_.close();
  requests_.close();
}

void ServiceClient::call(std::span<const std::byte> request, Duration timeout, Answer answer) {
  Result<void> sent = success();
  {
    // Held during the send, so that the reply cannot arrive before the call is recorded.
    const MutexLock lock(mutex_);
    if (ended_) {
      sent = gone(service_);
    } else if (const std::size_t most = context_.settings.limits.calls; waiting_.size() >= most) {
      sent =
          Error{Code::overloaded,
                at_limit("the service of ROS 2", most, "calls in flight", "--max-calls"), service_};
    } else {
      const auto number = send(request);
      if (number) {
        waiting_[*number] = {std::move(answer), monotonic_now() + timeout};
      } else {
        sent = number.error();
      }
    }
  }
  if (!sent) answer(sent.error());
}

Result<std::int64_t> ServiceClient::send(std::span<const std::byte> request) {
  if (is_cyclone(offered_.server)) {
    if (request.size() < 4) return Error{Code::corrupt, "the request is not CDR", service_};
    ++header_.call;
    const auto sent = requests_.write(put_header(header_, request));
    if (!sent) return sent.error();
    return header_.call;
  }
  SampleIdentity answer_to;
  answer_to.writer_guid(replies_.guid());
  const auto sent = requests_.write(request, answer_to);
  if (!sent) return sent.error();
  return static_cast<std::int64_t>(sent->sequence_number().to64long());
}

void ServiceClient::on_message(const Received& message) {
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

bool ServiceClient::is_own(const CallHeader& header) {
  const MutexLock lock(mutex_);
  return header.client == header_.client;
}

void ServiceClient::finish(std::int64_t call, Buffer reply) {
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

void ServiceClient::expire() {
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

}  // namespace hyphos::gateway::ros2
