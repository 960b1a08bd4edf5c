#include "gateway/ros2/endpoint.hpp"

#include <algorithm>
#include <utility>

#include "gateway/ros2/participant.hpp"

namespace hyphos::gateway::ros2 {
namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;

/// The delay before a reader requests a lost message: only heartbeats announce it. The default of
/// DDS, 3 s, stops a large message for as long, and a writer keeps only its last few messages.
const eprosima::fastrtps::Duration_t kHeartbeat(0.02);
/// A paced message takes time. The value must be below one second, because Fast DDS passes only the
/// microseconds to the kernel.
const eprosima::fastrtps::Duration_t kMostBlocking(0.9);

template <class DdsQos>
void set(DdsQos& to, const EndpointSpec& spec) {
  const Qos& qos = spec.qos;
  to.reliability().kind =
      qos.reliable ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
  to.durability().kind =
      qos.transient_local ? dds::TRANSIENT_LOCAL_DURABILITY_QOS : dds::VOLATILE_DURABILITY_QOS;
  if (qos.deadline_ms > 0) {
    to.deadline().period =
        eprosima::fastrtps::Duration_t(static_cast<double>(qos.deadline_ms) / 1e3);
  }
  if (qos.lifespan_ms > 0) {
    to.lifespan().duration =
        eprosima::fastrtps::Duration_t(static_cast<double>(qos.lifespan_ms) / 1e3);
  }
  to.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  to.history().depth = qos.depth;
  auto& limits = to.resource_limits();
  limits.max_samples = std::max(limits.max_samples, qos.depth);
  limits.max_samples_per_instance = std::max(limits.max_samples_per_instance, qos.depth);
  limits.allocated_samples = std::min(limits.allocated_samples, qos.depth);
  to.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  to.data_sharing().off();
  to.user_data().setValue(std::vector<rtps::octet>(spec.user_data.begin(), spec.user_data.end()));
}

void remember(std::set<GUID_t>& matched, const dds::InstanceHandle_t& handle, bool there) {
  const GUID_t guid = rtps::iHandle2GUID(handle);
  if (there) {
    matched.insert(guid);
  } else {
    matched.erase(guid);
  }
}

}  // namespace

Reader::Reader(std::shared_ptr<Participant> participant, Hear on_message, EndpointEvents events,
               Lend lend)
    : participant_(std::move(participant)),
      events_(std::move(events)),
      lend_(std::move(lend)),
      hear_(std::move(on_message)) {}

Result<void> Reader::open(const EndpointSpec& spec) {
  auto topic = participant_->take_topic(spec.topic, spec.type);
  if (!topic) return topic.error();
  topic_ = spec.topic;
  dds::DataReaderQos qos;
  set(qos, spec);
  auto mask = dds::StatusMask::data_available();
  mask << dds::StatusMask::subscription_matched();
  reader_ = participant_->subscriber()->create_datareader(*topic, qos, this, mask);
  if (reader_ == nullptr) {
    participant_->give_back_topic(topic_);
    return Error{Code::io, "Fast DDS could not create a reader of the topic", topic_};
  }
  guid_ = reader_->guid();
  return success();
}

void Reader::close() {
  {
    const MutexLock lock(hearing_);
    hear_ = nullptr;
  }
  if (reader_ == nullptr) return;
  reader_->set_listener(nullptr);
  participant_->subscriber()->delete_datareader(std::exchange(reader_, nullptr));
  participant_->give_back_topic(topic_);
}

std::size_t Reader::matched() const {
  const MutexLock lock(matching_);
  return matched_.size();
}

void Reader::on_data_available(dds::DataReader* reader) {
  // `hearing_` is not held during calls of DDS, because DDS may hold its own lock around this call.
  RawSample sample;
  {
    const MutexLock lock(hearing_);
    sample = std::exchange(spare_, RawSample());
  }
  sample.lend = &lend_;
  dds::SampleInfo info;
  while (reader->take_next_sample(&sample, &info) == ReturnCode_t::RETCODE_OK) {
    if (!info.valid_data || participant_->is_own(info.sample_identity.writer_guid())) continue;
    const MutexLock lock(hearing_);
    if (!hear_) return;
    hear_({sample.bytes, sample.within, sample.too_large, info});
  }
  sample.within = {};  // other owners may hold it now
  const MutexLock lock(hearing_);
  spare_ = std::move(sample);
}

void Reader::on_subscription_matched(dds::DataReader*, const dds::SubscriptionMatchedStatus& info) {
  {
    const MutexLock lock(matching_);
    remember(matched_, info.last_publication_handle, info.current_count_change > 0);
  }
  if (events_.matched) events_.matched();
}

Writer::Writer(std::shared_ptr<Participant> participant, EndpointEvents events)
    : participant_(std::move(participant)), events_(std::move(events)) {}

Result<void> Writer::open(const EndpointSpec& spec) {
  auto topic = participant_->take_topic(spec.topic, spec.type);
  if (!topic) return topic.error();
  topic_ = spec.topic;
  dds::DataWriterQos qos;
  set(qos, spec);
  qos.publish_mode().kind = dds::SYNCHRONOUS_PUBLISH_MODE;
  qos.reliability().max_blocking_time = kMostBlocking;
  qos.reliable_writer_qos().times.heartbeatPeriod = kHeartbeat;
  // A volatile reader of Cyclone DDS begins after the first heartbeat that it receives. A heartbeat
  // between the parts of a large message would cost it that message.
  qos.reliable_writer_qos().disable_heartbeat_piggyback = true;
  auto mask = dds::StatusMask::publication_matched();
  auto* const writer = participant_->publisher()->create_datawriter(*topic, qos, this, mask);
  if (writer == nullptr) {
    participant_->give_back_topic(topic_);
    return Error{Code::io, "Fast DDS could not create a writer of the topic", topic_};
  }
  guid_ = writer->guid();
  const MutexLock lock(writing_);
  writer_ = writer;
  return success();
}

void Writer::close() {
  dds::DataWriter* writer = nullptr;
  {
    const MutexLock lock(writing_);  // no write is in progress any more
    writer = std::exchange(writer_, nullptr);
  }
  if (writer == nullptr) return;
  writer->set_listener(nullptr);
  // Fast DDS 2.9 releases the samples of a deleted writer one by one, and its heartbeat then looks
  // for holes between them without end. A writer without samples has no holes.
  writer->clear_history(nullptr);
  participant_->publisher()->delete_datawriter(writer);
  participant_->give_back_topic(topic_);
}

Result<SampleIdentity> Writer::write(const EncodedMessage::Parts& message,
                                     const SampleIdentity& related) {
  constexpr std::size_t kEncapsulation = 4;
  RawSample sample;
  sample.bytes = message[0];
  sample.behind = {message[1], message[2]};
  if (sample.bytes.size() < kEncapsulation) {
    return Error{Code::corrupt, "the CDR message is shorter than its 4-byte encapsulation header",
                 topic_};
  }
  if (sample.size() > participant_->max_message()) {
    return Error{Code::overloaded,
                 "the message has " + std::to_string(sample.size()) +
                     " bytes, more than the limit of " +
                     std::to_string(participant_->max_message()) + ". Raise --max-message",
                 topic_};
  }
  rtps::WriteParams params;
  params.related_sample_identity(related);
  const ReaderLock lock(writing_);
  if (writer_ == nullptr)
    return Error{Code::disconnected, "the writer of the topic is closed. Open it again", topic_};
  if (!writer_->write(&sample, params)) {
    return Error{Code::io, "Fast DDS could not send the message", topic_};
  }
  return params.sample_identity();
}

std::size_t Writer::matched() const {
  const MutexLock lock(matching_);
  return matched_.size();
}

bool Writer::matches(const GUID_t& reader) const {
  const MutexLock lock(matching_);
  return matched_.contains(reader);
}

std::set<GUID_t> Writer::readers() const {
  const MutexLock lock(matching_);
  return matched_;
}

void Writer::on_publication_matched(dds::DataWriter*, const dds::PublicationMatchedStatus& info) {
  {
    const MutexLock lock(matching_);
    remember(matched_, info.last_subscription_handle, info.current_count_change > 0);
  }
  if (events_.matched) events_.matched();
}

}  // namespace hyphos::gateway::ros2
