#include "gateway/ros2/discovery.hpp"

#include <fastdds/rtps/participant/ParticipantDiscoveryInfo.h>
#include <fastdds/rtps/reader/ReaderDiscoveryInfo.h>
#include <fastdds/rtps/writer/WriterDiscoveryInfo.h>

#include <algorithm>
#include <fastdds/dds/domain/DomainParticipant.hpp>

#include "gateway/ros2/call.hpp"
#include "gateway/ros2/names.hpp"

namespace hyphos::gateway::ros2 {
namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;

/// Rounded up, so that the result never promises more than the writer does. 0: no promise.
std::int64_t whole_ms(const eprosima::fastrtps::Duration_t& period) {
  if (period == eprosima::fastrtps::c_TimeInfinite) return 0;
  return (period.to_ns() + 999'999) / 1'000'000;
}

template <class ProxyData>
Remote remote_of(const ProxyData& data) {
  Remote remote;
  remote.topic = data.topicName().to_string();
  remote.type = data.typeName().to_string();
  remote.qos.reliable = data.m_qos.m_reliability.kind == dds::RELIABLE_RELIABILITY_QOS;
  remote.qos.transient_local = data.m_qos.m_durability.kind >= dds::TRANSIENT_LOCAL_DURABILITY_QOS;
  remote.qos.deadline_ms = whole_ms(data.m_qos.m_deadline.period);
  remote.qos.lifespan_ms = whole_ms(data.m_qos.m_lifespan.duration);
  remote.qos.liveliness = static_cast<Liveliness>(data.m_qos.m_liveliness.kind);
  remote.qos.lease_ms = whole_ms(data.m_qos.m_liveliness.lease_duration);
  remote.qos.exclusive = data.m_qos.m_ownership.kind == dds::EXCLUSIVE_OWNERSHIP_QOS;
  remote.qos.partitions = data.m_qos.m_partition.getNames();
  const auto& forms = data.m_qos.representation.m_value;  // empty: XCDR1
  remote.qos.xcdr1 = forms.empty() || std::find(forms.begin(), forms.end(),
                                                dds::XCDR_DATA_REPRESENTATION) != forms.end();
  const auto& told = data.m_qos.m_userData.data_vec();
  remote.client_id = take_user_data(std::string(told.begin(), told.end()), kClientId);
  return remote;
}

}  // namespace

DomainState Discovery::state() const {
  const MutexLock lock(mutex_);
  return state_;
}

Time Discovery::known_since(const GUID_t& guid) const {
  const MutexLock lock(mutex_);
  const auto found = participants_.find(guid.guidPrefix);
  return found == participants_.end() ? monotonic_now() : found->second;
}

std::string Discovery::client_id(const GUID_t& guid) const {
  const MutexLock lock(mutex_);
  for (const Remotes* remotes : {&state_.writers, &state_.readers}) {
    if (const auto found = remotes->find(guid); found != remotes->end()) {
      return found->second.client_id;
    }
  }
  return {};
}

bool Discovery::is_best_effort(const GUID_t& reader) const {
  const MutexLock lock(mutex_);
  const auto found = state_.readers.find(reader);
  return found != state_.readers.end() && !found->second.qos.reliable;
}

void Discovery::on_participant_discovery(dds::DomainParticipant*,
                                         rtps::ParticipantDiscoveryInfo&& info) {
  using Info = rtps::ParticipantDiscoveryInfo;
  const auto prefix = info.info.m_guid.guidPrefix;
  if (info.status != Info::REMOVED_PARTICIPANT && info.status != Info::DROPPED_PARTICIPANT) {
    const MutexLock lock(mutex_);
    participants_.emplace(prefix, monotonic_now());
    return;
  }
  {
    const MutexLock lock(mutex_);
    participants_.erase(prefix);
    const auto of_it = [&](const auto& remote) { return remote.first.guidPrefix == prefix; };
    std::erase_if(state_.writers, of_it);
    std::erase_if(state_.readers, of_it);
  }
  changed_();
}

void Discovery::on_publisher_discovery(dds::DomainParticipant* participant,
                                       rtps::WriterDiscoveryInfo&& info) {
  const GUID_t guid = info.info.guid();
  if (guid.guidPrefix == participant->guid().guidPrefix) return;
  {
    const MutexLock lock(mutex_);
    if (info.status == rtps::WriterDiscoveryInfo::REMOVED_WRITER) {
      state_.writers.erase(guid);
    } else {
      state_.writers[guid] = remote_of(info.info);
    }
  }
  changed_();
}

void Discovery::on_subscriber_discovery(dds::DomainParticipant* participant,
                                        rtps::ReaderDiscoveryInfo&& info) {
  const GUID_t guid = info.info.guid();
  if (guid.guidPrefix == participant->guid().guidPrefix) return;
  {
    const MutexLock lock(mutex_);
    if (info.status == rtps::ReaderDiscoveryInfo::REMOVED_READER) {
      state_.readers.erase(guid);
    } else {
      state_.readers[guid] = remote_of(info.info);
    }
  }
  changed_();
}

}  // namespace hyphos::gateway::ros2
