#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cosim/adapter/c_pose.hpp"
#include "cosim/core/simulator.hpp"

/// Exposes a simulator of the engine through the C interface: the inverse of c_adapter.hpp. It
/// serves adapters that are written against the interfaces of simulator.hpp.
///
///     struct Mine { static Result<std::unique_ptr<Network>> open(std::string_view options); };
///     extern "C" ... hyphos_cosim_entry() { return exposed_network<Mine>(); }
///
/// init() reports wrong options, because it can return an error text and open() cannot.
namespace hyphos::cosim {

inline int c_code(Code code) {
  switch (code) {
    case Code::invalid_config:
      return HYPHOS_COSIM_INVALID;
    case Code::out_of_range:
      return HYPHOS_COSIM_PAST;
    case Code::not_found:
      return HYPHOS_COSIM_NO_NODE;
    case Code::unsupported:
      return HYPHOS_COSIM_UNSUPPORTED;
    case Code::disconnected:
      return HYPHOS_COSIM_DISCONNECTED;
    case Code::timeout:
      return HYPHOS_COSIM_TIMEOUT;
    case Code::corrupt:
      return HYPHOS_COSIM_CORRUPT;
    default:
      return HYPHOS_COSIM_FAILED;
  }
}

/// The functions that networks and physics share.
template <typename Seam, typename Opens>
struct Exposed {
  explicit Exposed(const char* options) : simulator(Opens::open(options)) {}

  static Exposed& at(void* self) { return *static_cast<Exposed*>(self); }
  static void* open(const char* options) { return new Exposed(options); }
  static void close(void* self) { delete &at(self); }
  static const char* error(void* self) { return at(self).told.c_str(); }
  static int init(void* self, std::uint32_t nodes, std::uint64_t seed) {
    Exposed& exposed = at(self);
    if (!exposed.simulator) return exposed.say(exposed.simulator.error());
    return exposed.say((*exposed.simulator)->init(nodes, seed));
  }
  static int advance(void* self, std::int64_t end) {
    return at(self).say((*at(self).simulator)->advance({end}));
  }
  static std::int64_t next_event_time(void* self) {
    return (*at(self).simulator)->next_event_time().ns;
  }

  int say(const Error& error) {
    told = error.where.empty() ? error.message : error.where + ": " + error.message;
    return c_code(error.code);
  }
  int say(const Result<void>& result) { return result ? HYPHOS_COSIM_OK : say(result.error()); }

  Result<std::unique_ptr<Seam>> simulator;
  std::string told{};
  std::vector<Outcome> outcomes{};  // polled, in reverse order
  Buffer bytes{};                   // of the last returned outcome
  std::vector<std::byte> state{};   // kept between the two calls of save()
};

template <typename Opens>
struct ExposedNetwork : Exposed<Network, Opens> {
  using Base = Exposed<Network, Opens>;

  static int set_poses(void* self, const hyphos_cosim_pose* poses, std::uint32_t count) {
    std::vector<Pose> read;
    for (std::uint32_t i = 0; i < count; ++i) {
      read.push_back(pose_from_c(poses[i]));
    }
    return Base::at(self).say((*Base::at(self).simulator)->set_poses(read));
  }
  static int inject(void* self, const hyphos_cosim_packet* packet) {
    const std::span bytes(packet->bytes, static_cast<std::size_t>(packet->size));
    return Base::at(self).say((*Base::at(self).simulator)
                                  ->inject({packet->id,
                                            packet->from,
                                            packet->to,
                                            {packet->stamp_ns},
                                            Buffer::copy_of(std::as_bytes(bytes))}));
  }
  static int poll(void* self, hyphos_cosim_outcome* told) {
    Base& exposed = Base::at(self);
    if (exposed.outcomes.empty()) {
      if (auto polled = (*exposed.simulator)->poll(exposed.outcomes); !polled) {
        return -exposed.say(polled.error());
      }
      std::ranges::reverse(exposed.outcomes);
      if (exposed.outcomes.empty()) return 0;
    }
    const Outcome outcome = std::move(exposed.outcomes.back());
    exposed.outcomes.pop_back();
    exposed.bytes = outcome.bytes;
    *told = {.id = outcome.id,
             .to = outcome.to,
             .copies = outcome.copies,
             .time_ns = outcome.time.ns,
             .fate = static_cast<std::uint32_t>(outcome.reason),
             .reserved = 0,
             .bytes = reinterpret_cast<const std::uint8_t*>(exposed.bytes.data()),
             .size = exposed.bytes.size(),
             .sampled_ns = outcome.sampled.ns,
             .power_dbm = outcome.power_dbm,
             .has_parts = outcome.parts ? 1U : 0U,
             .reserved2 = 0,
             .parts_ns = {}};
    if (outcome.parts) parts_to_c(*outcome.parts, told->parts_ns);
    return 1;
  }
};

template <typename Opens>
struct ExposedPhysics : Exposed<Physics, Opens> {
  using Base = Exposed<Physics, Opens>;

  static int poses(void* self, hyphos_cosim_pose* told, std::uint32_t count) {
    const auto poses = (*Base::at(self).simulator)->poses();
    for (std::uint32_t i = 0; i < std::min<std::size_t>(count, poses.size()); ++i) {
      told[i] = pose_to_c(poses[i]);
    }
    return HYPHOS_COSIM_OK;
  }
  static int steer(void* self, std::uint32_t robot, const hyphos_cosim_motion* motion) {
    Base& exposed = Base::at(self);
    auto left_out = (*exposed.simulator)->steer(robot, motion_from_c(*motion));
    if (!left_out) return exposed.say(left_out.error());
    if (left_out->empty()) return HYPHOS_COSIM_OK;
    exposed.told = std::move(*left_out);
    return HYPHOS_COSIM_IN_PART;
  }
  static int sense(void* self, std::uint32_t robot, const hyphos_cosim_query* query,
                   double* values) {
    Base& exposed = Base::at(self);
    if (query->kind == HYPHOS_COSIM_FELT) {
      auto felt = (*exposed.simulator)->felt(robot);
      if (!felt) return exposed.say(felt.error());
      std::ranges::copy(std::array{felt->x, felt->y, felt->z}, values);
      return HYPHOS_COSIM_OK;
    }
    Rays rays{{query->mount[0], query->mount[1], query->mount[2]}, query->range, {}};
    for (std::uint32_t i = 0; i < query->count; ++i) {
      const double* d = query->directions + 3 * std::size_t{i};
      rays.directions.push_back({d[0], d[1], d[2]});
    }
    auto distances = (*exposed.simulator)->cast(robot, rays);
    if (!distances) return exposed.say(distances.error());
    std::ranges::copy(*distances, values);
    return HYPHOS_COSIM_OK;
  }
  static int look(void* self, std::uint32_t robot, const hyphos_cosim_view* view, std::uint8_t* rgb,
                  float* depth) {
    Base& exposed = Base::at(self);
    auto picture = (*exposed.simulator)->look(robot, view_from_c(*view, depth != nullptr));
    if (!picture) return exposed.say(picture.error());
    std::memcpy(rgb, picture->rgb.data(), picture->rgb.size());
    if (depth != nullptr) std::ranges::copy(picture->depth, depth);
    return HYPHOS_COSIM_OK;
  }
  static std::int64_t save(void* self, std::uint8_t* state, std::uint64_t capacity) {
    Base& exposed = Base::at(self);
    if (state == nullptr) {
      auto saved = (*exposed.simulator)->save();
      if (!saved) return -exposed.say(saved.error());
      exposed.state = std::move(*saved);
    } else if (capacity >= exposed.state.size()) {
      std::memcpy(state, exposed.state.data(), exposed.state.size());
    }
    return static_cast<std::int64_t>(exposed.state.size());
  }
  static int restore(void* self, const std::uint8_t* state, std::uint64_t size) {
    const std::span given(state, static_cast<std::size_t>(size));
    return Base::at(self).say((*Base::at(self).simulator)->restore(std::as_bytes(given)));
  }
};

template <typename Opens>
const hyphos_cosim_simulator* exposed_network() {
  using At = ExposedNetwork<Opens>;
  static const hyphos_cosim_simulator calls = {HYPHOS_COSIM_ABI, HYPHOS_COSIM_NETWORK,
                                               At::open,         At::close,
                                               At::error,        At::init,
                                               At::advance,      At::next_event_time,
                                               At::set_poses,    At::inject,
                                               At::poll,         nullptr,
                                               nullptr,          nullptr,
                                               nullptr,          nullptr,
                                               nullptr};
  return &calls;
}

template <typename Opens>
const hyphos_cosim_simulator* exposed_physics() {
  using At = ExposedPhysics<Opens>;
  static const hyphos_cosim_simulator calls = {HYPHOS_COSIM_ABI, HYPHOS_COSIM_PHYSICS,
                                               At::open,         At::close,
                                               At::error,        At::init,
                                               At::advance,      At::next_event_time,
                                               nullptr,          nullptr,
                                               nullptr,          At::poses,
                                               At::steer,        At::save,
                                               At::restore,      At::sense,
                                               At::look};
  return &calls;
}

}  // namespace hyphos::cosim
