// Fast DDS: a reliable topic with one octet sequence and a type support written by hand. Between
// processes it goes through the shared-memory transport, with a segment that holds several
// messages; across machines through UDP. Samples are taken in the data-available listener.

#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>

#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;

// Bytes to serialize (sending side) or as received. The receiving side keeps its storage.
struct Blob {
  const std::byte* data = nullptr;
  std::size_t size = 0;
  std::unique_ptr<std::byte[]> storage;
  std::size_t capacity = 0;
};

// CDR, little endian: 4 bytes of encapsulation, a 32-bit length, the octets.
class BlobType : public dds::TopicDataType {
 public:
  explicit BlobType(std::size_t largest) {
    setName("hyphos_lab::Blob");
    m_typeSize = static_cast<std::uint32_t>(kPrefix + largest);
    m_isGetKeyDefined = false;
  }
  bool serialize(void* data, rtps::SerializedPayload_t* out) override {
    const auto& blob = *static_cast<const Blob*>(data);
    const auto length = static_cast<std::uint32_t>(blob.size);
    const unsigned char encapsulation[4] = {0, 1, 0, 0};
    std::memcpy(out->data, encapsulation, 4);
    std::memcpy(out->data + 4, &length, 4);
    std::memcpy(out->data + kPrefix, blob.data, blob.size);
    out->encapsulation = CDR_LE;
    out->length = static_cast<std::uint32_t>(kPrefix + blob.size);
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t* in, void* data) override {
    auto& blob = *static_cast<Blob*>(data);
    std::uint32_t length = 0;
    if (in->length < kPrefix) return false;
    std::memcpy(&length, in->data + 4, 4);
    if (length > in->length - kPrefix) return false;
    if (blob.capacity < length) {
      blob.storage.reset(new std::byte[length]);
      blob.capacity = length;
    }
    std::memcpy(blob.storage.get(), in->data + kPrefix, length);
    blob.data = blob.storage.get();
    blob.size = length;
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* data) override {
    const auto size = static_cast<std::uint32_t>(kPrefix + static_cast<Blob*>(data)->size);
    return [size] { return size; };
  }
  void* createData() override { return new Blob; }
  void deleteData(void* data) override { delete static_cast<Blob*>(data); }
  bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }

 private:
  static constexpr std::size_t kPrefix = 8;
};

template <class T>
T* checked(T* made, const char* what) {
  if (made == nullptr) throw std::runtime_error(std::string("fastdds: no ") + what);
  return made;
}

class FastddsPeer : public Peer, private dds::DataReaderListener {
 public:
  static constexpr const char* kName = "fastdds";
  static std::vector<Variant> variants() {
    return {{"", kBetweenProcesses, 8u << 20, false, true}};
  }

  explicit FastddsPeer(const Options& options) : Peer(options), buffer_(options.size) {
    dds::DomainParticipantQos qos;
    qos.transport().use_builtin_transports = false;
    if (options.two_hosts()) {
      qos.transport().user_transports.push_back(
          std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>());
    } else {
      auto shm = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
      shm->segment_size(static_cast<std::uint32_t>((4u << 20) + 4 * options.size));
      shm->max_message_size(
          static_cast<std::uint32_t>(std::max(std::size_t{65'500}, options.size + 4096)));
      qos.transport().user_transports.push_back(shm);
    }
    auto* factory = dds::DomainParticipantFactory::get_instance();
    const auto domain = static_cast<std::uint32_t>(options.run_id % 100);
    participant_ = checked(factory->create_participant(domain, qos), "participant");
    type_ = dds::TypeSupport(new BlobType(options.size));
    type_.register_type(participant_);
  }
  ~FastddsPeer() override {
    participant_->delete_contained_entities();
    dds::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }

  void open_publisher(const Edge& edge) override {
    auto* publisher =
        checked(participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT), "publisher");
    dds::DataWriterQos qos;
    configure(qos, edge);
    qos.reliability().max_blocking_time = eprosima::fastrtps::c_TimeInfinite;
    // Above one datagram Fast DDS sends only from its own thread.
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
    // It fails while the process is being ended; a message that failed earlier is missed by the
    // sink.
    static_cast<void>(write(data, size));
  }

 private:
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
      qos.history().depth = 16;
    }
  }
  dds::Topic* topic(const Edge& edge) {
    return checked(
        participant_->create_topic(edge.name, type_.get_type_name(), dds::TOPIC_QOS_DEFAULT),
        "topic");
  }
  [[nodiscard]] bool write(const void* data, std::size_t size) {
    Blob blob;
    blob.data = static_cast<const std::byte*>(data);
    blob.size = size;
    return writer_->write(&blob);
  }
  void on_data_available(dds::DataReader* reader) override {
    dds::SampleInfo info;
    while (reader->take_next_sample(&received_, &info) == ReturnCode_t::RETCODE_OK) {
      if (info.valid_data) on_message_(received_.data, received_.size);
    }
  }

  std::vector<std::byte> buffer_;
  dds::DomainParticipant* participant_ = nullptr;
  dds::TypeSupport type_;
  dds::DataWriter* writer_ = nullptr;
  Blob received_;
  OnMessage on_message_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::FastddsPeer>(argc, argv);
}
