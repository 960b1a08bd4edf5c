// ROS 1 (roscpp, TCPROS): one uint8[] per message, with TCP_NODELAY. `nagle`: without TCP_NODELAY,
// the default of a program. `inproc`: publisher and subscriber in one process, where roscpp passes
// a pointer. Its daemon, rosmaster, only introduces the nodes to each other.

#include "lab/common/main.hpp"
#include "lab/peers/octets.hpp"
#include "lab/peers/roscpp.hpp"

namespace hyphos::lab {
namespace {

/// A .msg with the one line `uint8[] data`.
struct Blob {
  static constexpr const char* kType = "hyphos_lab/Blob";
  static constexpr const char* kMd5 = "f43a8e1b362b75baa741461b46adc7e0";
  static constexpr const char* kDefinition = "uint8[] data\n";
  static std::string head(std::size_t size) {
    const auto length = static_cast<std::uint32_t>(size);
    return {reinterpret_cast<const char*>(&length), sizeof length};
  }
  static std::span<const std::byte> octets_of(std::span<const std::byte> message) {
    return octets_at(message, 0);
  }
};

class Ros1Peer final : public RoscppPeer<Blob> {
 public:
  static constexpr const char* kName = "ros1";
  static std::vector<Variant> variants() {
    auto variants = tcpros_variants();
    // Not in the in-process flood, for the same reason as in the other flood.
    variants.push_back({"inproc", {Shape::kInproc}});
    return variants;
  }
  static std::vector<std::string> daemon(const Options& options) { return rosmaster(options); }

  explicit Ros1Peer(const Options& options) : RoscppPeer(options, options.near().address) {}
};

}  // namespace
}  // namespace hyphos::lab

int main(int argc, char** argv) { return hyphos::lab::lab_main<hyphos::lab::Ros1Peer>(argc, argv); }
