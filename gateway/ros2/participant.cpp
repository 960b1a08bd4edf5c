#include "gateway/ros2/participant.hpp"

#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

#include <algorithm>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <utility>

#include "gateway/ros2/raw_type.hpp"
#include "gateway/ros2/transport.hpp"

namespace hyphos::gateway::ros2 {
namespace {

namespace dds = eprosima::fastdds::dds;
namespace transports = eprosima::fastdds::rtps;

// A large message arrives as many datagrams at once. Datagrams that do not fit in the buffer are
// sent again later. The kernel grants less if its limit is lower.
constexpr std::uint32_t kSocketBuffer = 4U << 20U;

/// The destinations of a participant's announcements: the multicast group of the domain, and by
/// unicast the participants of this machine, because participants with the range LOCALHOST do not
/// use multicast.
void announce_to(eprosima::fastrtps::rtps::LocatorList_t& peers, const Settings& settings) {
  using eprosima::fastrtps::rtps::IPLocator;
  eprosima::fastrtps::rtps::Locator_t locator;
  locator.kind = LOCATOR_KIND_UDPv4;
  IPLocator::setIPv4(locator, "239.255.0.1");
  locator.port = announcement_port(settings.domain_id);
  peers.push_back(locator);
  locator.port = 0;  // the transport inserts the ports of the participants
  IPLocator::setIPv4(locator, "127.0.0.1");
  peers.push_back(locator);
  if (reach_of(settings.host) != Reach::address) return;
  IPLocator::setIPv4(locator, settings.host);
  peers.push_back(locator);
}

dds::DomainParticipantQos qos_of(const Settings& settings) {
  dds::DomainParticipantQos qos;
  qos.name("/");
  const std::string enclave = "enclave=/;";  // ROS 2 counts only participants that have an enclave
  qos.user_data().setValue(
      std::vector<eprosima::fastrtps::rtps::octet>(enclave.begin(), enclave.end()));
  qos.transport().use_builtin_transports = false;
  if (settings.shared_memory) {
    const auto memory = std::make_shared<transports::SharedMemTransportDescriptor>();
    memory->segment_size(kSocketBuffer);
    qos.transport().user_transports.push_back(memory);
  }
  qos.transport().user_transports.push_back(
      make_transport({settings.host, settings.domain_id, kSocketBuffer}));
  announce_to(qos.wire_protocol().builtin.initialPeersList, settings);
  qos.wire_protocol().builtin.readerHistoryMemoryPolicy =
      eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  qos.wire_protocol().builtin.writerHistoryMemoryPolicy =
      eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  return qos;
}

Error failed(const std::string& what, const std::string& where) {
  return {Code::io, "Fast DDS could not " + what, where};
}

}  // namespace

Result<std::shared_ptr<Participant>> Participant::open(const Settings& settings,
                                                       dds::DomainParticipantListener* listener) {
  const std::string where = "domain " + std::to_string(settings.domain_id);
  std::shared_ptr<Participant> made(new Participant);
  made->max_message_ = settings.max_message;
  auto* const factory = dds::DomainParticipantFactory::get_instance();
  made->participant_ = factory->create_participant(settings.domain_id, qos_of(settings), listener,
                                                   dds::StatusMask::none());
  if (made->participant_ == nullptr) {
    const std::string address = settings.host.empty() ? "any address" : settings.host;
    return failed("join the domain. Check that " + address + " is an address of this machine",
                  where);
  }
  made->publisher_ = made->participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT);
  made->subscriber_ = made->participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT);
  if (made->publisher_ == nullptr || made->subscriber_ == nullptr) return failed("start", where);
  return made;
}

Participant::~Participant() {
  if (participant_ == nullptr) return;
  participant_->set_listener(nullptr);
  participant_->delete_contained_entities();
  dds::DomainParticipantFactory::get_instance()->delete_participant(participant_);
}

void Participant::stop_listening() { participant_->set_listener(nullptr); }

Result<dds::Topic*> Participant::take_topic(const std::string& name, const std::string& type) {
  const MutexLock lock(mutex_);
  SharedTopic& shared = topics_[name];
  if (shared.users > 0) {
    if (shared.type != type) {
      return Error{Code::type_mismatch,
                   "the topic is already used with type " + shared.type + ", not " + type, name};
    }
    ++shared.users;
    return shared.topic;
  }
  if (participant_->find_type(type).empty()) {
    dds::TypeSupport support(new RawType(type, max_message_));
    support.register_type(participant_);
  }
  shared.topic = participant_->create_topic(name, type, dds::TOPIC_QOS_DEFAULT);
  if (shared.topic == nullptr) {
    topics_.erase(name);
    return failed("create a topic of type " + type, name);
  }
  shared.type = type;
  shared.users = 1;
  return shared.topic;
}

void Participant::give_back_topic(const std::string& name) {
  const MutexLock lock(mutex_);
  const auto found = topics_.find(name);
  if (found == topics_.end() || --found->second.users > 0) return;
  participant_->delete_topic(found->second.topic);
  // has no effect while another topic uses the type
  participant_->unregister_type(found->second.type);
  topics_.erase(found);
}

bool Participant::is_own(const eprosima::fastrtps::rtps::GUID_t& guid) const {
  return guid.guidPrefix == participant_->guid().guidPrefix;
}

Gid Participant::gid() const { return gid_of(participant_->guid()); }

Gid gid_of(const eprosima::fastrtps::rtps::GUID_t& guid) {
  Gid gid{};
  std::copy_n(guid.guidPrefix.value, eprosima::fastrtps::rtps::GuidPrefix_t::size, gid.begin());
  std::copy_n(guid.entityId.value, eprosima::fastrtps::rtps::EntityId_t::size,
              gid.begin() + eprosima::fastrtps::rtps::GuidPrefix_t::size);
  return gid;
}

}  // namespace hyphos::gateway::ros2
