#include "cosim/physics/gazebo/physics.hpp"

#include <algorithm>
#include <limits>
#include <string>

namespace hyphos::cosim {
namespace {

// After 100 ms the transport assumes that a connection is established. If it is not, a reply or our
// subscription is lost for good. The adapter therefore reconnects after this time, and doubles the
// time with every attempt.
constexpr Duration kMeeting = Duration::from_ms(1000);
constexpr Duration kFirstPoses = Duration::from_ms(300);
// The world is paused if no newer poses arrive for this time.
constexpr Duration kQuiet = Duration::from_ms(150);

Error bad(Code code, std::string what) { return {code, std::move(what), "gazebo"}; }

std::string seconds(Time t) { return std::to_string(static_cast<double>(t.ns) * 1e-9) + " s"; }

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

}  // namespace

Result<void> GazeboPhysics::keep(Result<void> result) {
  if (!result) broken_ = result.error();
  return result;
}

Result<void> GazeboPhysics::init(std::uint32_t nodes, std::uint64_t seed) {
  if (nodes != options_.models.size()) {
    return bad(Code::invalid_config, std::to_string(options_.models.size()) + " models for " +
                                         std::to_string(nodes) + " nodes");
  }
  broken_.reset();
  steps_ = 0;
  now_ = {};
  poses_.assign(nodes, {});
  return keep(find_start(seed));
}

/// Returns the first poses that arrive. A world that publishes no poses while it is paused makes
/// one step.
Result<Frame> GazeboPhysics::first_frame(std::uint64_t seed, Time deadline) {
  for (const std::uint32_t steps : {0U, 1U}) {
    if (auto agreed = server_->step(steps, seed, deadline - monotonic_now()); !agreed) {
      return agreed.error();
    }
    const Time until = steps == 0 ? std::min(deadline, monotonic_now() + kFirstPoses) : deadline;
    if (auto frame = server_->wait_for({0}, until)) return std::move(*frame);
  }
  const std::string other = server_->other_type();
  return bad(Code::timeout,
             "the Gazebo server steps, but publishes no poses" +
                 (other.empty() ? ": its world needs the system SceneBroadcaster"
                                : "; it publishes messages of type '" + other +
                                      "': set `messages` to ignition up to Fortress, to gz since "
                                      "Harmonic"));
}

Result<Frame> GazeboPhysics::meet(std::uint64_t seed, Time deadline) {
  for (Duration patience = kMeeting;; patience = patience + patience) {
    const Time end = monotonic_now() + patience;
    server_ = GazeboServer::make(options_);
    auto frame = first_frame(seed, deadline - end < patience ? deadline : end);
    const bool again =
        !frame && (frame.error().code == Code::timeout || frame.error().code == Code::disconnected);
    if (!again || monotonic_now() >= deadline) return frame;
  }
}

/// Pauses the world. The world counts as paused when a step leads to the next instant and no poses
/// follow. That instant is the start.
Result<void> GazeboPhysics::find_start(std::uint64_t seed) {
  const Time deadline = monotonic_now() + options_.timeout;
  auto frame = meet(seed, deadline);
  if (!frame) return frame.error();
  for (bool stands = false; !stands;) {
    while (auto newer = server_->wait_for(frame->stamp + Duration{1}, monotonic_now() + kQuiet)) {
      *frame = std::move(*newer);
      if (monotonic_now() > deadline) {
        return bad(Code::corrupt, "the Gazebo server was asked to pause its world '" +
                                      options_.world + "', but the world still runs");
      }
    }
    const Time next = frame->stamp + options_.step;
    if (auto agreed = server_->step(1, 0, deadline - monotonic_now()); !agreed) return agreed;
    auto stepped = server_->wait_for(frame->stamp + Duration{1}, deadline);
    if (!stepped) {
      return bad(Code::timeout, "the Gazebo server made a step, but its poses are still those of " +
                                    seconds(frame->stamp));
    }
    stands =
        stepped->stamp == next && !server_->wait_for(next + Duration{1}, monotonic_now() + kQuiet);
    if (!stands && monotonic_now() > deadline) {
      return bad(Code::corrupt, "a step of the Gazebo server leads from " + seconds(frame->stamp) +
                                    " to " + seconds(stepped->stamp) + ", but should last " +
                                    std::to_string(options_.step.ns / 1000) +
                                    " us: max_step_size differs from step_us, or the world is "
                                    "not paused");
    }
    *frame = std::move(*stepped);
  }
  for (std::size_t i = 0; i < options_.models.size(); ++i) {
    if (frame->places[i]) continue;
    return bad(Code::not_found, "the Gazebo server has no moving model '" + options_.models[i] +
                                    "': it publishes " + listed(frame->names));
  }
  start_ = frame->stamp;
  return take(*frame, 0);
}

Result<void> GazeboPhysics::take(const Frame& frame, double seconds) {
  for (std::size_t i = 0; i < poses_.size(); ++i) {
    const auto& place = frame.places[i];
    if (!place || !is_finite(place->position) || !is_rotation(place->orientation)) {
      return bad(Code::corrupt, "the Gazebo server published model '" + options_.models[i] +
                                    "' with " + (place ? "an invalid pose" : "no pose"));
    }
    const double rate = seconds > 0 ? 1 / seconds : 0;
    const Vec3 way = place->position - poses_[i].position;
    const Vec3 turn = turn_between(poses_[i].orientation, place->orientation);
    poses_[i] = {place->position, way * rate, place->orientation, turn * rate};
  }
  return success();
}

Result<void> GazeboPhysics::step(std::int64_t count) {
  // The service takes 32 bits.
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (count > kMost) return bad(Code::out_of_range, "too many steps in one call");
  const Time deadline = monotonic_now() + options_.timeout;
  if (auto agreed = server_->step(static_cast<std::uint32_t>(count), 0, options_.timeout);
      !agreed) {
    return agreed;
  }
  const Time target{start_.ns + (steps_ + count) * options_.step.ns};
  const auto frame = server_->wait_for(target, deadline);
  if (!frame) {
    const auto last = server_->latest();
    return bad(Code::timeout, "the Gazebo server was asked for " + std::to_string(count) +
                                  " steps, to " + seconds(target) +
                                  ", but its poses are still of " +
                                  seconds(last ? last->stamp : start_) + " after " +
                                  std::to_string(options_.timeout.ns / 1'000'000) +
                                  " ms: the server hangs, or its max_step_size is less than " +
                                  std::to_string(options_.step.ns / 1000) + " us");
  }
  if (frame->stamp != target) {
    return bad(Code::corrupt, "the Gazebo server was asked for " + std::to_string(count) +
                                  " steps, to " + seconds(target) + ", but its poses are of " +
                                  seconds(frame->stamp) + ": its max_step_size is more than " +
                                  std::to_string(options_.step.ns / 1000) +
                                  " us, or another client steps the world");
  }
  steps_ += count;
  return take(*frame, static_cast<double>(count * options_.step.ns) * 1e-9);
}

Result<void> GazeboPhysics::advance(Time end) {
  if (broken_) return *broken_;
  if (end < now_) {
    return bad(Code::out_of_range, "asked to end at " + std::to_string(end.ns) +
                                       " ns, but Gazebo is already at " + std::to_string(now_.ns) +
                                       " ns");
  }
  const std::int64_t count = end.ns / options_.step.ns - steps_;
  if (count > 0) {
    if (auto stepped = keep(step(count)); !stepped) return stepped;
  }
  now_ = end;
  return success();
}

// Gazebo's transport does not report whether a message was received. The step from which a command
// on a topic would count is therefore random.
Result<std::string> GazeboPhysics::steer(NodeId robot, const Motion&) {
  if (robot >= options_.models.size()) {
    return bad(Code::not_found, "there is no robot " + std::to_string(robot));
  }
  return bad(Code::unsupported,
             "robot " + std::to_string(robot) + " ('" + options_.models[robot] +
                 "') received a motion command, but only the world moves Gazebo models: "
                 "use `kinematic` or `mujoco` physics for robots that are steered");
}

}  // namespace hyphos::cosim
