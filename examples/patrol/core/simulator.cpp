#include "simulator.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

namespace patrol {
namespace {

double approach(double from, double to, double most) {
  return from + std::clamp(to - from, -most, most);
}

// The motion along an arc, in the frame of its start.
Pose2 arc(double distance, double turn) {
  if (std::abs(turn) < 1e-9) return {distance, 0.0, turn};
  const double radius = distance / turn;
  return {radius * std::sin(turn), radius * (1.0 - std::cos(turn)), turn};
}

}  // namespace

Simulator::Simulator(const World& world, SimulatorConfig config)
    : world_(world), config_(config), random_(config.seed), truth_(config.start) {}

void Simulator::command(double speed, double turn_rate) {
  assert(std::isfinite(speed) && std::isfinite(turn_rate));
  wanted_speed_ = std::clamp(speed, -config_.max_speed, config_.max_speed);
  wanted_turn_rate_ = std::clamp(turn_rate, -config_.max_turn_rate, config_.max_turn_rate);
}

void Simulator::step(double dt_s) {
  now_ns_ += std::llround(dt_s * 1e9);
  speed_ = approach(speed_, wanted_speed_, config_.max_acceleration * dt_s);
  turn_rate_ = approach(turn_rate_, wanted_turn_rate_, config_.max_turn_acceleration * dt_s);
  double distance = speed_ * dt_s;
  const double turn = turn_rate_ * dt_s;
  Pose2 next = compose(truth_, arc(distance, turn));
  bumped_ = world_.clearance(next.position()) < config_.robot_radius_m;
  if (bumped_) {  // the wheels stall, but turning on the spot stays possible
    distance = 0.0;
    speed_ = 0.0;
    next = compose(truth_, arc(0.0, turn));
  }
  truth_ = next;

  const double felt_distance =
      distance * config_.distance_scale +
      gaussian() * config_.translation_noise * std::sqrt(std::abs(distance));
  const double felt_turn =
      turn * config_.turn_scale +
      gaussian() * config_.rotation_noise * std::sqrt(std::abs(turn) + std::abs(distance));
  odometry_ = compose(odometry_, arc(felt_distance, felt_turn));
}

Scan Simulator::scan() {
  Scan scan;
  scan.stamp_ns = now_ns_;
  scan.angle_min = -config_.laser_field_of_view / 2.0;
  scan.angle_increment = config_.laser_field_of_view / (config_.beams - 1);
  scan.range_min = 0.05;
  scan.range_max = config_.laser_range_m;
  scan.mount = config_.laser_mount;
  const Pose2 laser = compose(truth_, config_.laser_mount);
  scan.ranges.reserve(static_cast<std::size_t>(config_.beams));
  for (std::size_t i = 0; i < static_cast<std::size_t>(config_.beams); ++i) {
    const double limit = config_.laser_range_m;
    const double range = world_.ray(laser.position(), laser.theta + scan.angle(i), limit);
    const double noise = gaussian() * config_.laser_noise_m;
    scan.ranges.push_back(range >= limit ? std::numeric_limits<float>::infinity()
                                         : static_cast<float>(std::max(range + noise, 0.0)));
  }
  return scan;
}

// The method of Box and Muller. The standard library's normal distribution differs between
// implementations.
double Simulator::gaussian() {
  const double u = (static_cast<double>(random_() >> 11) + 1.0) * 0x1p-53;
  const double v = static_cast<double>(random_() >> 11) * 0x1p-53;
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace patrol
