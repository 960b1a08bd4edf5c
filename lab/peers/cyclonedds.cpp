// Cyclone DDS (C API): a reliable topic with one octet sequence. Samples are taken as loans in the
// data-available listener. Participants find each other by unicast, so that no interface with
// multicast is required. Datagrams may be as large as UDP allows, which large messages need. All
// other settings are Cyclone's defaults. `inproc`: a writer and a reader of one participant.

#include <dds/dds.h>

#include "blob.h"
#include "lab/common/main.hpp"

namespace hyphos::lab {
namespace {

dds_entity_t checked(dds_entity_t entity, const char* what) {
  if (entity < 0) throw std::runtime_error(std::string(what) + ": " + dds_strretcode(-entity));
  return entity;
}

class CyclonePeer : public Peer {
 public:
  static constexpr const char* kName = "cyclonedds";
  static std::vector<Variant> variants() {
    // With the kernel's usual 208 KB of socket buffer, even 4 MB at 100 Hz needs retransmissions.
    // Larger messages would measure only those.
    return {{"", kBetweenProcesses, 8u << 20, false, true, true, true},
            {"inproc", {Shape::kInproc, Shape::kInprocFlood}}};
  }

  explicit CyclonePeer(const Options& options) : Peer(options), buffer_(options.size) {
    const std::string own = options.own_address();
    std::string peers;
    for (const Machine& one : options.machines) peers += "<Peer address=\"" + one.address + "\"/>";
    const std::string config =
        "<General><Interfaces><NetworkInterface address=\"" + own + "\"/></Interfaces>" +
        "<AllowMulticast>false</AllowMulticast><MaxMessageSize>65500B</MaxMessageSize>" +
        "</General><Discovery><Peers>" + peers +
        "</Peers><ParticipantIndex>auto</ParticipantIndex>" +
        "<MaxAutoParticipantIndex>110</MaxAutoParticipantIndex></Discovery>";
    // No two concurrent runs have the same ports.
    const auto domain = static_cast<dds_domainid_t>(PortBlock::number_of(options.ports));
    domain_ = checked(dds_create_domain(domain, config.c_str()), "domain");
    participant_ = checked(dds_create_participant(domain, nullptr, nullptr), "participant");
  }
  ~CyclonePeer() override { dds_delete(domain_); }

  void open_publisher(const Edge& edge) override {
    writer_ =
        checked(dds_create_writer(participant_, topic(edge), qos(edge).get(), nullptr), "writer");
  }
  void open_subscriber(const Edge& edge, OnMessage on_message) override {
    on_message_ = std::move(on_message);
    dds_listener_t* listener = dds_create_listener(this);
    dds_lset_data_available(listener, [](dds_entity_t reader, void* self) {
      static_cast<CyclonePeer*>(self)->take(reader);
    });
    checked(dds_create_reader(participant_, topic(edge), qos(edge).get(), listener), "reader");
    dds_delete_listener(listener);
  }
  void publish(std::size_t size, Fill fill) override {
    fill(buffer_.data());
    if (!write(buffer_.data(), size)) throw std::runtime_error("cyclonedds: cannot write");
  }
  void forward(const void* data, std::size_t size) override {
    // Serialized in place. The write fails while the process is being ended. The sink detects an
    // earlier loss.
    static_cast<void>(write(const_cast<void*>(data), size));
  }

 private:
  struct QosDeleter {
    void operator()(dds_qos_t* q) const { dds_delete_qos(q); }
  };
  using Qos = std::unique_ptr<dds_qos_t, QosDeleter>;

  dds_entity_t topic(const Edge& edge) {
    return checked(
        dds_create_topic(participant_, &hyphos_lab_Blob_desc, edge.name.c_str(), nullptr, nullptr),
        "topic");
  }
  [[nodiscard]] Qos qos(const Edge& edge) const {
    Qos q(dds_create_qos());
    const bool may_drop = options_.wanted_reliability() == Reliability::kBestEffort;
    dds_qset_reliability(q.get(), may_drop ? DDS_RELIABILITY_BEST_EFFORT : DDS_RELIABILITY_RELIABLE,
                         DDS_INFINITY);
    if (edge.block) {
      dds_qset_history(q.get(), DDS_HISTORY_KEEP_ALL, 0);
      dds_qset_resource_limits(q.get(), 64, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
    } else {
      dds_qset_history(q.get(), DDS_HISTORY_KEEP_LAST, options_.queue_or(16));
    }
    return q;
  }
  [[nodiscard]] bool write(void* data, std::size_t size) {
    hyphos_lab_Blob blob{};
    blob.bytes._buffer = static_cast<std::uint8_t*>(data);
    blob.bytes._length = blob.bytes._maximum = static_cast<std::uint32_t>(size);
    return dds_write(writer_, &blob) >= 0;
  }
  void take(dds_entity_t reader) {
    for (;;) {
      void* sample = nullptr;
      dds_sample_info_t info;
      if (dds_take(reader, &sample, &info, 1, 1) <= 0) return;
      const auto& bytes = static_cast<hyphos_lab_Blob*>(sample)->bytes;
      if (info.valid_data) {
        if (options_.in_process())
          touch(reinterpret_cast<std::byte*>(bytes._buffer) + bytes._length - 1);
        on_message_(bytes._buffer, bytes._length);
      }
      dds_return_loan(reader, &sample, 1);
    }
  }

  dds_entity_t domain_ = 0, participant_ = 0, writer_ = 0;
  std::vector<std::byte> buffer_;
  OnMessage on_message_;
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::CyclonePeer>(argc, argv);
}
