// Fast DDS: a reliable topic with one octet sequence and a handwritten type support. The default
// variant uses shared memory only. `shm_udp` adds UDP, as ROS 2 programs have it. `udp` uses the
// loopback only. `inproc`: a writer and a reader of one participant, which Fast DDS connects
// without a transport.

#include "lab/peers/fastdds.hpp"

#include "lab/common/main.hpp"
#include "lab/peers/octets.hpp"

namespace hyphos::lab {
namespace {

// CDR, little endian: 4 bytes of encapsulation, a 32-bit length, the octets.
struct Blob {
  static constexpr const char* kType = "hyphos_lab::Blob";

  static std::string topic(const std::string& edge) { return edge; }
  static std::string head(std::size_t size) {
    const auto length = static_cast<std::uint32_t>(size);
    std::string head("\0\1\0\0", 4);
    return head.append(reinterpret_cast<const char*>(&length), sizeof length);
  }
  static std::span<const std::byte> octets_of(std::span<const std::byte> sample) {
    return octets_at(sample, 4);
  }
};

class FastddsPeer final : public FastddsEnd<Blob> {
 public:
  using FastddsEnd::FastddsEnd;
  static constexpr const char* kName = "fastdds";
  static std::vector<Variant> variants() {
    return {{"", kBetweenProcesses, kLargestSample, false, true, true, true},
            {"shm_udp", kBetweenProcesses, kLargestSample},
            {"udp", kBetweenProcesses, kLargestSample},
            {"inproc", {Shape::kInproc, Shape::kInprocFlood}}};
  }
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) {
  return hyphos::lab::lab_main<hyphos::lab::FastddsPeer>(argc, argv);
}
