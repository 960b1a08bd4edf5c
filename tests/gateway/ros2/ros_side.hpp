#pragma once

#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/xmlparser/XMLProfileManager.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/own_port.hpp"

namespace hyphos::gateway::ros2 {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;

/// A message that is lost during discovery is repeated every few seconds.
inline constexpr std::chrono::seconds kPatience(60);

/// A DDS domain that no other running test uses. Domains above 94 are not used, because their ports
/// are among those of own_port() and the ephemeral ports of the kernel.
inline std::uint32_t test_domain() {
  static const int number = hyphos::test::claim("dds", 94);
  return static_cast<std::uint32_t>(1 + number);
}

/// Disables intra-process delivery, so that participants of one process use the network. Call it
/// before creating the first participant.
inline void use_the_wire() {
  eprosima::fastrtps::LibrarySettingsAttributes settings;
  settings.intraprocess_delivery = eprosima::fastrtps::INTRAPROCESS_OFF;
  eprosima::fastrtps::xmlparser::XMLProfileManager::library_settings(settings);
}

/// std_msgs/String in CDR, written by hand. DDS pads to a multiple of 4 bytes.
inline std::string string_cdr(std::string_view text) {
  std::string bytes("\0\1\0\0", 4);
  const auto size = static_cast<std::uint32_t>(text.size() + 1);
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  bytes.append(text);
  bytes.resize((bytes.size() + 1 + 3) / 4 * 4);
  return bytes;
}
inline std::string text_of(std::string_view cdr) {
  std::uint32_t size = 0;
  std::memcpy(&size, cdr.data() + 4, sizeof size);
  return std::string(cdr.substr(8, size - 1));
}

/// Messages as byte strings, including the encapsulation header.
class TextType final : public dds::TopicDataType {
 public:
  explicit TextType(const std::string& name) {
    setName(name.c_str());
    m_typeSize = 64;
    m_isGetKeyDefined = false;
  }
  bool serialize(void* data, rtps::SerializedPayload_t* payload) override {
    const auto& text = *static_cast<const std::string*>(data);
    std::memcpy(payload->data, text.data(), text.size());
    payload->length = static_cast<std::uint32_t>(text.size());
    payload->encapsulation = CDR_LE;
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t* payload, void* data) override {
    static_cast<std::string*>(data)->assign(reinterpret_cast<const char*>(payload->data),
                                            payload->length);
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* data) override {
    const auto size = static_cast<std::uint32_t>(static_cast<const std::string*>(data)->size());
    return [size] { return size; };
  }
  void* createData() override { return new std::string; }
  void deleteData(void* data) override { delete static_cast<std::string*>(data); }
  bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }
};

struct RosQos {
  bool reliable = true;
  bool latched = false;
  std::int32_t depth = 100;
  std::int64_t deadline_ms = 0;
  std::int64_t lifespan_ms = 0;

  template <class DdsQos>
  void set(DdsQos& qos) const {
    qos.reliability().kind =
        reliable ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
    qos.durability().kind =
        latched ? dds::TRANSIENT_LOCAL_DURABILITY_QOS : dds::VOLATILE_DURABILITY_QOS;
    qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
    qos.history().depth = depth;
    if (deadline_ms > 0) {
      qos.deadline().period =
          eprosima::fastrtps::Duration_t(static_cast<double>(deadline_ms) / 1e3);
    }
    if (lifespan_ms > 0) {
      qos.lifespan().duration =
          eprosima::fastrtps::Duration_t(static_cast<double>(lifespan_ms) / 1e3);
    }
    qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  }
};

/// The messages of a reader. A test can wait for them.
class RosReader final : public dds::DataReaderListener {
 public:
  struct Got {
    std::string bytes;
    dds::SampleInfo info;
  };

  /// Samples can arrive before create_datareader() returns, so `reader` can still be null here.
  void on_data_available(dds::DataReader* source) override {
    Got got;
    while (source->take_next_sample(&got.bytes, &got.info) == ReturnCode_t::RETCODE_OK) {
      if (!got.info.valid_data) continue;
      const std::lock_guard lock(mutex_);
      got_.push_back(got);
      changed_.notify_all();
    }
  }
  void on_subscription_matched(dds::DataReader*,
                               const dds::SubscriptionMatchedStatus& info) override {
    const std::lock_guard lock(mutex_);
    matched_ = info.current_count;
    changed_.notify_all();
  }

  std::vector<Got> wait(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kPatience, [&] { return got_.size() >= count; });
    return got_;
  }
  /// The number of messages so far.
  [[nodiscard]] std::size_t count() {
    const std::lock_guard lock(mutex_);
    return got_.size();
  }
  std::vector<std::string> texts(std::size_t count) {
    std::vector<std::string> all;
    for (const Got& got : wait(count)) all.push_back(got.bytes);
    return all;
  }
  bool wait_matched(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return matched_ == count; });
  }
  [[nodiscard]] rtps::GUID_t guid() const { return reader->guid(); }

  dds::DataReader* reader = nullptr;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Got> got_;
  int matched_ = 0;
};

/// A writer that counts its matched readers.
class RosWriter final : public dds::DataWriterListener {
 public:
  void on_publication_matched(dds::DataWriter*,
                              const dds::PublicationMatchedStatus& info) override {
    const std::lock_guard lock(mutex_);
    matched_ = info.current_count;
    changed_.notify_all();
  }
  bool wait_matched(int count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return matched_ == count; });
  }
  rtps::SampleIdentity write(std::string bytes,
                             const rtps::SampleIdentity& related = rtps::SampleIdentity()) {
    rtps::WriteParams params;
    params.related_sample_identity(related);
    if (!writer->write(&bytes, params)) throw std::runtime_error("the DDS writer cannot write");
    return params.sample_identity();
  }

  dds::DataWriter* writer = nullptr;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int matched_ = 0;
};

/// The discovery range of a ROS program, as rmw_fastrtps_cpp sets up Fast DDS.
enum class Range : std::uint8_t {
  localhost_only,  ///< ROS_LOCALHOST_ONLY=1 up to Humble
  localhost,       ///< ROS_AUTOMATIC_DISCOVERY_RANGE of Iron and later
  subnet,
};

/// A ROS 2 program in plain DDS. It communicates with the gateway as another process would.
class RosSide {
 public:
  explicit RosSide(std::uint32_t domain = test_domain(), Range range = Range::localhost_only) {
    use_the_wire();
    dds::DomainParticipantQos qos;
    const std::string enclave = "enclave=/;";
    qos.user_data().setValue(std::vector<rtps::octet>(enclave.begin(), enclave.end()));
    set_transports(qos, range);
    auto* const factory = dds::DomainParticipantFactory::get_instance();
    participant_ = factory->create_participant(domain, qos);
    if (participant_ == nullptr) throw std::runtime_error("cannot create a DDS participant");
    publisher_ = participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT);
    subscriber_ = participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT);
  }
  ~RosSide() {
    for (const auto& one : writers_) {
      if (one->writer != nullptr) end(*one);
    }
    participant_->delete_contained_entities();
    dds::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }
  RosSide(const RosSide&) = delete;
  RosSide& operator=(const RosSide&) = delete;

  RosWriter& writer(const std::string& topic, const std::string& type, RosQos ros = {}) {
    auto& made = *writers_.emplace_back(std::make_unique<RosWriter>());
    dds::DataWriterQos qos;
    ros.set(qos);
    qos.reliable_writer_qos().times.heartbeatPeriod = eprosima::fastrtps::Duration_t(0.1);
    made.writer = publisher_->create_datawriter(this->topic(topic, type), qos, &made);
    if (made.writer == nullptr) throw std::runtime_error("cannot create a DDS writer");
    return made;
  }
  RosReader& reader(const std::string& topic, const std::string& type, RosQos ros = {}) {
    auto& made = *readers_.emplace_back(std::make_unique<RosReader>());
    dds::DataReaderQos qos;
    ros.set(qos);
    made.reader = subscriber_->create_datareader(this->topic(topic, type), qos, &made);
    if (made.reader == nullptr) throw std::runtime_error("cannot create a DDS reader");
    return made;
  }
  /// Without samples, because a heartbeat can hang while Fast DDS 2.9 deletes a writer with some.
  void end(RosWriter& writer) {
    writer.writer->clear_history(nullptr);
    publisher_->delete_datawriter(std::exchange(writer.writer, nullptr));
  }
  [[nodiscard]] rtps::GUID_t guid() const { return participant_->guid(); }

 private:
  static void set_transports(dds::DomainParticipantQos& qos, Range range) {
    if (range == Range::subnet) return;  // Uses the default transports of Fast DDS.
    qos.transport().use_builtin_transports = false;
    const auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->receiveBufferSize = 4U << 20U;
    if (range == Range::localhost) {
      udp->TTL = 0;
      qos.transport().user_transports.push_back(
          std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>());
    } else {
      udp->interfaceWhiteList.push_back("127.0.0.1");
    }
    qos.transport().user_transports.push_back(udp);
  }

  dds::Topic* topic(const std::string& name, const std::string& type) {
    if (auto* const known = participant_->lookup_topicdescription(name)) {
      return dynamic_cast<dds::Topic*>(known);
    }
    dds::TypeSupport support(new TextType(type));
    support.register_type(participant_);
    return participant_->create_topic(name, type, dds::TOPIC_QOS_DEFAULT);
  }

  dds::DomainParticipant* participant_ = nullptr;
  dds::Publisher* publisher_ = nullptr;
  dds::Subscriber* subscriber_ = nullptr;
  std::vector<std::unique_ptr<RosWriter>> writers_;
  std::vector<std::unique_ptr<RosReader>> readers_;
};

}  // namespace hyphos::gateway::ros2
