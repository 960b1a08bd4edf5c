#include "cosim/adapter/c_adapter.hpp"

#include <dlfcn.h>

#include <array>
#include <utility>

#include "cosim/adapter/c_pose.hpp"

namespace hyphos::cosim {
namespace {

// The versions that added functions to the end of the interface.
constexpr std::uint32_t kSenseAbi = 3;
constexpr std::uint32_t kLookAbi = 4;

Code code_of(int result) {
  switch (result) {
    case HYPHOS_COSIM_INVALID:
      return Code::invalid_config;
    case HYPHOS_COSIM_PAST:
      return Code::out_of_range;
    case HYPHOS_COSIM_NO_NODE:
      return Code::not_found;
    case HYPHOS_COSIM_UNSUPPORTED:
      return Code::unsupported;
    case HYPHOS_COSIM_DISCONNECTED:
      return Code::disconnected;
    case HYPHOS_COSIM_TIMEOUT:
      return Code::timeout;
    case HYPHOS_COSIM_CORRUPT:
      return Code::corrupt;
    default:
      return Code::io;
  }
}

/// The handle of an open simulator: the part that networks and physics share.
class Handle {
 public:
  Handle(const hyphos_cosim_simulator& calls, void* self) : calls_(calls), self_(self) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { calls_.close(self_); }

  [[nodiscard]] const hyphos_cosim_simulator& calls() const { return calls_; }
  [[nodiscard]] void* self() const { return self_; }

  [[nodiscard]] Result<void> result(int returned) const {
    if (returned == HYPHOS_COSIM_OK) return success();
    return Error{code_of(returned), told("the simulator gives no reason"), "adapter"};
  }
  /// The error text of the simulator for its last call.
  [[nodiscard]] std::string told(const char* otherwise) const {
    const char* text = calls_.error(self_);
    return text != nullptr && *text != '\0' ? text : otherwise;
  }

  [[nodiscard]] Result<std::vector<std::byte>> save() const {
    const auto unsupported = Error{Code::unsupported, "this adapter cannot save", "adapter"};
    if (calls_.save == nullptr) return unsupported;
    const std::int64_t size = calls_.save(self_, nullptr, 0);
    if (size < 0) return result(static_cast<int>(-size)).error();
    std::vector<std::byte> state(static_cast<std::size_t>(size));
    const std::int64_t written =
        calls_.save(self_, reinterpret_cast<std::uint8_t*>(state.data()), state.size());
    if (written != size) return Error{Code::corrupt, "saved states differ in size", "adapter"};
    return state;
  }

  [[nodiscard]] Result<void> restore(std::span<const std::byte> state) const {
    if (calls_.restore == nullptr) {
      return Error{Code::unsupported, "this adapter cannot restore", "adapter"};
    }
    return result(
        calls_.restore(self_, reinterpret_cast<const std::uint8_t*>(state.data()), state.size()));
  }

 private:
  const hyphos_cosim_simulator& calls_;
  void* self_;
};

/// Checks a pose that the simulator reported for `robot`. The pose may be invalid.
Result<Pose> believed(const hyphos_cosim_pose& told, std::size_t robot) {
  Pose pose = pose_from_c(told);
  const double size = norm(pose.orientation);
  if (size == 0) pose.orientation = {};  // not reported
  const bool turned = is_rotation(pose.orientation);
  if (turned && is_finite(pose.position) && is_finite(pose.velocity) && is_finite(pose.turn)) {
    return pose;
  }
  return Error{
      Code::corrupt,
      "the pose of robot " + std::to_string(robot) +
          (turned ? " has a value that is not a finite number"
                  : " has an orientation of length " + std::to_string(size) + " instead of 1"),
      "adapter"};
}

class CNetwork final : public Network {
 public:
  CNetwork(const hyphos_cosim_simulator& calls, void* self) : at_(calls, self) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override {
    return at_.result(at_.calls().init(at_.self(), nodes, seed));
  }
  Result<void> advance(Time end) override {
    return at_.result(at_.calls().advance(at_.self(), end.ns));
  }
  Time next_event_time() const override { return {at_.calls().next_event_time(at_.self())}; }
  Result<std::vector<std::byte>> save() const override { return at_.save(); }
  Result<void> restore(std::span<const std::byte> state) override { return at_.restore(state); }

  Result<void> set_poses(std::span<const Pose> poses) override {
    poses_.clear();
    for (const Pose& pose : poses) poses_.push_back(pose_to_c(pose));
    return at_.result(at_.calls().set_poses(at_.self(), poses_.data(),
                                            static_cast<std::uint32_t>(poses_.size())));
  }

  Result<void> inject(const Packet& packet) override {
    const hyphos_cosim_packet given{packet.id,
                                    packet.from,
                                    packet.to,
                                    packet.stamp.ns,
                                    reinterpret_cast<const std::uint8_t*>(packet.bytes.data()),
                                    packet.bytes.size()};
    return at_.result(at_.calls().inject(at_.self(), &given));
  }

  Result<void> poll(std::vector<Outcome>& outcomes) override {
    for (;;) {
      hyphos_cosim_outcome told{};
      const int returned = at_.calls().poll(at_.self(), &told);
      if (returned < 0) return at_.result(-returned);
      if (returned == 0) return success();
      if (told.fate >= kDropReasons || (told.bytes == nullptr && told.size > 0)) {
        return Error{Code::corrupt, "an outcome is invalid", "adapter"};
      }
      Outcome outcome{.id = told.id, .to = told.to, .time = {told.time_ns}};
      outcome.reason = static_cast<DropReason>(told.fate);
      outcome.fate = told.fate == HYPHOS_COSIM_DELIVERED ? Fate::delivered : Fate::dropped;
      outcome.copies = told.copies;
      outcome.sampled = {told.sampled_ns};
      outcome.power_dbm = told.power_dbm;
      if (told.has_parts != 0) outcome.parts = parts_from_c(told.parts_ns);
      if (outcome.fate == Fate::delivered) {
        outcome.bytes = Buffer::copy_of(
            std::as_bytes(std::span(told.bytes, static_cast<std::size_t>(told.size))));
      }
      outcomes.push_back(std::move(outcome));
    }
  }

 private:
  Handle at_;
  std::vector<hyphos_cosim_pose> poses_;
};

class CPhysics final : public Physics {
 public:
  CPhysics(const hyphos_cosim_simulator& calls, void* self) : at_(calls, self) {}

  Result<void> init(std::uint32_t nodes, std::uint64_t seed) override {
    if (auto ready = at_.result(at_.calls().init(at_.self(), nodes, seed)); !ready) return ready;
    poses_.resize(nodes);
    return read();
  }
  Result<void> advance(Time end) override {
    if (auto ran = at_.result(at_.calls().advance(at_.self(), end.ns)); !ran) return ran;
    return read();
  }
  Time next_event_time() const override { return {at_.calls().next_event_time(at_.self())}; }
  std::span<const Pose> poses() const override { return poses_; }
  Result<std::string> steer(NodeId robot, const Motion& motion) override {
    if (at_.calls().steer == nullptr) return Physics::steer(robot, motion);
    const hyphos_cosim_motion given = motion_to_c(motion);
    const int returned = at_.calls().steer(at_.self(), robot, &given);
    std::string left_out;
    if (returned == HYPHOS_COSIM_IN_PART) {
      left_out = at_.told("the simulator does not name the part");
    } else if (auto steered = at_.result(returned); !steered) {
      return steered.error();
    }
    if (auto told = read(); !told) return told.error();
    return left_out;
  }
  Result<std::vector<double>> cast(NodeId robot, const Rays& rays) override {
    std::vector<double> directions;
    for (const Vec3& d : rays.directions) directions.insert(directions.end(), {d.x, d.y, d.z});
    std::vector<double> distances(rays.directions.size());
    const Vec3& at = rays.mount;
    const hyphos_cosim_query query{HYPHOS_COSIM_RAYS,
                                   static_cast<std::uint32_t>(rays.directions.size()),
                                   {at.x, at.y, at.z},
                                   rays.range_m,
                                   directions.data()};
    if (!senses()) return Physics::cast(robot, rays);
    if (auto told = at_.result(at_.calls().sense(at_.self(), robot, &query, distances.data()));
        !told) {
      return told.error();
    }
    return distances;
  }
  Result<Vec3> felt(NodeId robot) override {
    if (!senses()) return Physics::felt(robot);
    const hyphos_cosim_query query{HYPHOS_COSIM_FELT, 0, {}, 0, nullptr};
    std::array<double, 3> values{};
    if (auto told = at_.result(at_.calls().sense(at_.self(), robot, &query, values.data()));
        !told) {
      return told.error();
    }
    return Vec3{values[0], values[1], values[2]};
  }
  Result<Picture> look(NodeId robot, const View& view) override {
    if (at_.calls().abi < kLookAbi || at_.calls().look == nullptr) {
      return Physics::look(robot, view);
    }
    const std::size_t pixels = std::size_t{view.width} * view.height;
    Picture picture;
    picture.rgb.resize(3 * pixels);
    if (view.depth) picture.depth.resize(pixels);
    const hyphos_cosim_view given = view_to_c(view);
    auto* const rgb = reinterpret_cast<std::uint8_t*>(picture.rgb.data());
    float* const depth = view.depth ? picture.depth.data() : nullptr;
    const int returned = at_.calls().look(at_.self(), robot, &given, rgb, depth);
    if (auto drawn = at_.result(returned); !drawn) return drawn.error();
    return picture;
  }
  Result<std::vector<std::byte>> save() const override { return at_.save(); }
  Result<void> restore(std::span<const std::byte> state) override {
    if (auto restored = at_.restore(state); !restored) return restored;
    return read();
  }

 private:
  Result<void> read() {
    told_.assign(poses_.size(), {});
    const auto count = static_cast<std::uint32_t>(told_.size());
    if (auto told = at_.result(at_.calls().poses(at_.self(), told_.data(), count)); !told) {
      return told;
    }
    for (std::size_t i = 0; i < poses_.size(); ++i) {
      auto pose = believed(told_[i], i);
      if (!pose) return pose.error();
      poses_[i] = *pose;
    }
    return success();
  }

  [[nodiscard]] bool senses() const {
    return at_.calls().abi >= kSenseAbi && at_.calls().sense != nullptr;
  }

  Handle at_;
  std::vector<Pose> poses_;
  std::vector<hyphos_cosim_pose> told_;
};

bool complete(const hyphos_cosim_simulator& s) {
  const bool common = s.open != nullptr && s.close != nullptr && s.error != nullptr &&
                      s.init != nullptr && s.advance != nullptr && s.next_event_time != nullptr;
  const bool own = s.kind == HYPHOS_COSIM_NETWORK
                       ? s.set_poses != nullptr && s.inject != nullptr && s.poll != nullptr
                       : s.poses != nullptr;
  return common && own;
}

template <typename Adapter, typename Seam>
Result<std::unique_ptr<Seam>> open(const hyphos_cosim_simulator& simulator, std::uint32_t kind,
                                   const std::string& options) {
  if (simulator.abi < HYPHOS_COSIM_OLDEST_ABI || simulator.abi > HYPHOS_COSIM_ABI) {
    return Error{Code::corrupt,
                 "built for version " + std::to_string(simulator.abi) + " of the interface, not " +
                     std::to_string(HYPHOS_COSIM_ABI) +
                     ": recompile it with the cosim_adapter.h of this Hyphos",
                 "adapter"};
  }
  if (simulator.kind != kind) {
    return Error{
        Code::invalid_config,
        kind == HYPHOS_COSIM_NETWORK ? "is not a network simulator" : "is not a physics simulator",
        "adapter"};
  }
  if (!complete(simulator))
    return Error{Code::corrupt, "a required function is missing", "adapter"};
  void* self = simulator.open(options.c_str());
  if (self == nullptr) {
    return Error{Code::invalid_config, "the simulator refused its options '" + options + "'",
                 "adapter"};
  }
  return std::unique_ptr<Seam>(std::make_unique<Adapter>(simulator, self));
}

}  // namespace

Result<const hyphos_cosim_simulator*> load_adapter(const std::string& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = ::dlerror();
    return Error{Code::not_found, why != nullptr ? why : "the library cannot be loaded", path};
  }
  using Entry = const hyphos_cosim_simulator* (*)();
  const auto entry = reinterpret_cast<Entry>(::dlsym(library, "hyphos_cosim_entry"));
  const hyphos_cosim_simulator* simulator = entry != nullptr ? entry() : nullptr;
  if (simulator == nullptr) {
    return Error{Code::corrupt, "has no function hyphos_cosim_entry()", path};
  }
  return simulator;
}

Result<std::unique_ptr<Network>> open_network(const hyphos_cosim_simulator& simulator,
                                              const std::string& options) {
  return open<CNetwork, Network>(simulator, HYPHOS_COSIM_NETWORK, options);
}

Result<std::unique_ptr<Physics>> open_physics(const hyphos_cosim_simulator& simulator,
                                              const std::string& options) {
  return open<CPhysics, Physics>(simulator, HYPHOS_COSIM_PHYSICS, options);
}

}  // namespace hyphos::cosim
