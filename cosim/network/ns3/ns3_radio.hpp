#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cosim/network/ns3/fates.hpp"
#include "cosim/network/ns3/options.hpp"
#include "cosim/network/ns3/radio_list.hpp"
#include "cosim/network/ns3/simulator.hpp"

namespace hyphos::cosim {

/// The common part of the radios of ns-3: its one simulator, the hosts of packets, and the
/// outcomes.
///
/// ns-3's state is global: a process can create only one radio in its life.
class Ns3Radio : public Network {
 public:
  Result<void> init(std::uint32_t nodes, std::uint64_t seed) final;
  Result<void> set_poses(std::span<const Pose> poses) final;
  Result<void> inject(const Packet& packet) final;
  Result<void> advance(Time end) final;
  Time next_event_time() const final;
  Result<void> poll(std::vector<Outcome>& outcomes) final;

 protected:
  Ns3Radio(Ns3Options options, Scene scene)
      : options_(std::move(options)), scene_(std::move(scene)) {}

  /// Errors of the number of nodes, before anything is made.
  [[nodiscard]] virtual Result<void> check_setup(std::uint32_t nodes) const = 0;
  /// Makes the radios of all nodes in the new simulator, and lets the clock begin: with restart()
  /// of the simulator, or with begin_here().
  [[nodiscard]] virtual Result<void> make(const RadioModel& model, std::uint64_t seed) = 0;
  [[nodiscard]] virtual Result<void> place(std::span<const Pose> poses) = 0;
  /// Errors of a packet to known nodes.
  [[nodiscard]] virtual Result<void> check_packet(const Packet& /*packet*/) const {
    return success();
  }
  /// The packet has left its host now.
  virtual void enter(const Packet& packet) = 0;

  /// Every destructor calls this, after it has removed the callbacks to its object.
  void end();

  /// The current instant of the engine, in an event of ns-3.
  [[nodiscard]] Time now() const;
  /// The current instant of ns-3 becomes the start of the run, for radios with events that never
  /// end.
  void begin_here();
  [[nodiscard]] static Error bad(Code code, std::string what) {
    return {code, std::move(what), "ns3"};
  }

  [[nodiscard]] std::uint32_t nodes() const { return nodes_; }
  [[nodiscard]] const Ns3Options& options() const { return options_; }
  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] Fates& fates() { return fates_; }
  [[nodiscard]] WindowedSimulator& simulator() { return *simulator_; }

 private:
  Ns3Options options_;
  Scene scene_;
  Fates fates_;
  ns3::Ptr<WindowedSimulator> simulator_;
  std::uint32_t nodes_ = 0;
  std::vector<Time> last_entries_;  // entry times into the radio, by host
  std::uint64_t seed_ = 0;
  Duration origin_{0};  // of the engine's time in that of ns-3
  Time now_;            // the end of the last window
};

/// The radio of these options. Errors: unsupported, if ns-3 has none.
[[nodiscard]] Result<std::unique_ptr<Ns3Radio>> make_ns3_radio(Ns3Options options, Scene scene);

/// The maker of each radio of radio_list.hpp.
namespace make_ns3 {
#define HYPHOS_DECLARE(name, ...) \
  [[nodiscard]] std::unique_ptr<Ns3Radio> name(Ns3Options options, Scene scene);
HYPHOS_COSIM_NS3_RADIOS(HYPHOS_DECLARE)
#undef HYPHOS_DECLARE
}  // namespace make_ns3

}  // namespace hyphos::cosim
