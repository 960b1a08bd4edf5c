#pragma once

#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>

#include <algorithm>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lab/common/peer.hpp"
#include "lab/common/port_block.hpp"

namespace hyphos::lab {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;

/// The size limit. The buffers hold several samples of this size.
inline constexpr std::size_t kLargestSample = 8u << 20;

/// A separate domain for each concurrent run, because no two of them have the same ports.
inline std::uint32_t dds_domain(const Options& options) {
  return static_cast<std::uint32_t>(PortBlock::number_of(options.ports));
}

/// True also between processes of one machine, if the variant requires UDP.
inline bool through_udp(const Options& options) {
  return options.across_machines() || options.variant.starts_with("udp");
}

/// A participant with UDP besides shared memory, like every ROS 2 program, discovers others only
/// through UDP. It also fragments its messages for UDP, even if they travel through shared memory.
inline bool through_memory_alone(const Options& options) {
  return !options.across_machines() && options.variant.empty();
}

// Octets to serialize (sending side), or received octets. The receiving side keeps its storage.
struct Octets {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  std::unique_ptr<std::byte[]> storage;
  std::size_t capacity = 0;
};

/// A type whose samples end with octets, with handwritten support. `Kind` provides its name, the
/// bytes before the octets (`head`: the encapsulation, the fields, their number), the position of
/// the octets (`octets_of`, empty for an invalid sample), and the topic name (`topic`).
template <class Kind>
class OctetsType final : public dds::TopicDataType {
 public:
  explicit OctetsType(std::size_t largest) {
    setName(Kind::kType);
    m_typeSize = static_cast<std::uint32_t>(Kind::head(largest).size() + largest);
    m_isGetKeyDefined = false;
  }
  bool serialize(void* data, rtps::SerializedPayload_t* out) override {
    const auto& octets = *static_cast<const Octets*>(data);
    const std::string head = Kind::head(octets.size);
    std::memcpy(out->data, head.data(), head.size());
    std::memcpy(out->data + head.size(), octets.data, octets.size);
    out->encapsulation = CDR_LE;
    out->length = static_cast<std::uint32_t>(head.size() + octets.size);
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t* in, void* data) override {
    const auto found = Kind::octets_of({reinterpret_cast<const std::byte*>(in->data), in->length});
    if (found.empty()) return false;
    auto& octets = *static_cast<Octets*>(data);
    if (octets.capacity < found.size()) {
      octets.storage.reset(new std::byte[found.size()]);
      octets.capacity = found.size();
    }
    std::memcpy(octets.storage.get(), found.data(), found.size());
    octets.data = octets.storage.get();
    octets.size = found.size();
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* data) override {
    const std::size_t octets = static_cast<Octets*>(data)->size;
    const auto size = static_cast<std::uint32_t>(Kind::head(octets).size() + octets);
    return [size] { return size; };
  }
  void* createData() override { return new Octets; }
  void deleteData(void* data) override { delete static_cast<Octets*>(data); }
  bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }
};

template <class T>
T* checked(T* made, const char* what) {
  if (made == nullptr) throw std::runtime_error(std::string("fastdds: no ") + what);
  return made;
}

/// A participant of Fast DDS with a reliable topic. Between processes it uses the shared-memory
/// transport, with a segment that holds several messages. Across machines, and in variants that
/// require it, it uses UDP. Samples are taken in the data-available listener.
template <class Kind>
class FastddsEnd : public Peer, private dds::DataReaderListener {
 public:
  explicit FastddsEnd(const Options& options) : Peer(options), buffer_(options.size) {
    dds::DomainParticipantQos qos;
    qos.transport().use_builtin_transports = false;
    auto& transports = qos.transport().user_transports;
    if (!through_udp(options)) transports.push_back(shared_memory(options));
    if (!through_memory_alone(options)) transports.push_back(udp(options));
    auto* factory = dds::DomainParticipantFactory::get_instance();
    participant_ = checked(factory->create_participant(dds_domain(options), qos), "participant");
    type_ = dds::TypeSupport(new OctetsType<Kind>(options.size));
    type_.register_type(participant_);
  }
  ~FastddsEnd() override {
    participant_->delete_contained_entities();
    dds::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }

  void open_publisher(const Edge& edge) override {
    auto* publisher =
        checked(participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT), "publisher");
    dds::DataWriterQos qos;
    configure(qos, edge);
    qos.reliability().max_blocking_time = eprosima::fastrtps::c_TimeInfinite;
    // Above the size of one datagram, Fast DDS sends only from its own thread.
    qos.publish_mode().kind =
        options_.size > 60'000 ? dds::ASYNCHRONOUS_PUBLISH_MODE : dds::SYNCHRONOUS_PUBLISH_MODE;
    writer_ = checked(publisher->create_datawriter(topic(edge), qos), "writer");
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    auto* subscriber =
        checked(participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT), "subscriber");
    dds::DataReaderQos qos;
    configure(qos, edge);
    checked(subscriber->create_datareader(topic(edge), qos, this), "reader");
  }
  void publish(std::size_t size, Fill fill) override {
    fill(buffer_.data());
    if (!write(buffer_.data(), size)) throw std::runtime_error("fastdds: cannot write");
  }
  void forward(const void* data, std::size_t size) override {
    // The write fails while the process is being ended. The sink detects an earlier loss.
    static_cast<void>(write(data, size));
  }

 private:
  using Transport = std::shared_ptr<eprosima::fastdds::rtps::TransportDescriptorInterface>;

  static Transport udp(const Options& options) {
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    if (options.across_machines()) return udp;
    // A large message arrives as many datagrams at once.
    constexpr std::uint32_t kSocketBuffer = 4u << 20;
    udp->sendBufferSize = kSocketBuffer;
    udp->receiveBufferSize = kSocketBuffer;
    udp->interfaceWhiteList.push_back(options.own_address());
    return udp;
  }
  static Transport shared_memory(const Options& options) {
    auto shm = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
    shm->segment_size(static_cast<std::uint32_t>((4u << 20) + 4 * options.size));
    shm->max_message_size(
        static_cast<std::uint32_t>(std::max(std::size_t{65'500}, options.size + 4096)));
    return shm;
  }
  template <class Qos>
  void configure(Qos& qos, const Edge& edge) const {
    const bool may_drop = options_.wanted_reliability() == Reliability::kBestEffort;
    qos.reliability().kind =
        may_drop ? dds::BEST_EFFORT_RELIABILITY_QOS : dds::RELIABLE_RELIABILITY_QOS;
    qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    if (edge.block) {
      qos.history().kind = dds::KEEP_ALL_HISTORY_QOS;
      qos.resource_limits().max_samples = 64;
      qos.resource_limits().max_instances = 1;
      qos.resource_limits().max_samples_per_instance = 64;
      qos.resource_limits().allocated_samples = 64;
    } else {
      qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
      qos.history().depth = options_.queue_or(16);
    }
  }
  dds::Topic* topic(const Edge& edge) {
    // In one process both endpoints have the same participant.
    if (topic_ == nullptr || topic_->get_name() != Kind::topic(edge.name)) {
      topic_ = checked(participant_->create_topic(Kind::topic(edge.name), type_.get_type_name(),
                                                  dds::TOPIC_QOS_DEFAULT),
                       "topic");
    }
    return topic_;
  }
  [[nodiscard]] bool write(const void* data, std::size_t size) {
    Octets octets;
    octets.data = static_cast<const std::byte*>(data);
    octets.size = size;
    return writer_->write(&octets);
  }
  void on_data_available(dds::DataReader* reader) override {
    dds::SampleInfo info;
    while (reader->take_next_sample(&received_, &info) == ReturnCode_t::RETCODE_OK) {
      if (!info.valid_data) continue;
      if (options_.in_process()) touch(received_.data + received_.size - 1);
      on_message_(received_.data, received_.size);
    }
  }

  std::vector<std::byte> buffer_;
  dds::DomainParticipant* participant_ = nullptr;
  dds::TypeSupport type_;
  dds::Topic* topic_ = nullptr;
  dds::DataWriter* writer_ = nullptr;
  Octets received_;
  OnMessage on_message_;
};

}  // namespace hyphos::lab
