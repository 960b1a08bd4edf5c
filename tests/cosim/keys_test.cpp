// Every key of a scenario refuses impossible values, with its line and the reason. The keys come
// from the errors about unknown keys, so this test finds a new key by itself.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/config.hpp"
#include "cosim/scenario/scenario.hpp"

namespace hyphos::cosim {
namespace {

using config::Value;

/// Valid scenarios. Together they use every key.
constexpr const char* kScenarios[] = {
    R"(
duration_s: 2
seed: 1
copies: {apart_m: [5, 0, 0]}
physics: {simulator: kinematic, rate_hz: 1000}
method: {name: algorithm_1_s, window_ms: 5, latency_budget_ms: 1, power_error_db: 0.5,
  loss_threshold_percent: 10, most_changes: 3, publisher: a, subscriber: b}
world:
  boxes: [{low: [4, -3, 0], high: [5, 3, 2], loss_db: 3, color: "#e01010"}]
  trees: [{at: [9, 9], height_m: 8, trunk_m: 0.4, crown_m: 4, loss_db: 8}]
  meshes: [{file: keys.obj, at: [30, 0, 0], yaw_deg: 10, scale: 2, loss_db: 6}]
  terrain: {size_m: [40, 40], centre: [1, 1], cell_m: 1, rough_m: 0.1, rough_scale_m: 4, seed: 2,
    loss_db: 30, hills: [{at: [1, 1], radius_m: 3, height_m: 1}]}
robots:
  a: {at: [0, 0, 1], velocity: [1, 0, 0], off_s: [1, 2]}
  b: {circle: {centre: [5, 5, 1], radius_m: 2, speed: 1, phase: 0}}
  c: {waypoints: [[0, 9, 1], [9, 9, 1]], speed: 1, loop: true}
radio: {simulator: analytic, rate_mbit: 6, tx_power_dbm: 16, path_loss_exponent: 3,
  reference_loss_db: 40, shadowing_db: 1, noise_dbm: -94, detection_dbm: -90, host_jitter_us: 100,
  queue_packets: 100, retry_limit: 7}
routing: {protocol: table, routes: {a: {b: c}}}
traffic: {rate_hz: 10, bytes: 100, to: one}
)",
    R"(
physics: {simulator: gazebo, world: field, messages: gz, partition: x, pose_topic: /pose,
  timeout_ms: 1000}
robots: {a: {}, b: {}}
)",
    R"(
world: {terrain: {file: keys.pgm, size_m: [40, 40], low_m: 0, high_m: 1}}
robots: {husky1: {at: [0, 0, 1]}, husky2: {at: [9, 0, 1]}}
radio: {simulator: replay, file: network.csv}
)",
    R"(
robots: {a: {at: [0, 0, 1]}, b: {at: [9, 0, 1]}, c: {at: [0, 9, 1]}}
radio: {simulator: ideal, delay_ms: 1}
traffic:
  via: c
  flows:
    stream: {kind: stream, from: a, to: b, transport: acknowledged, rate_hz: 10, bytes: 100,
      start_s: 0, seconds: 1, count: 5}
    file: {kind: file, from: a, to: b, bytes: 5000, chunk_bytes: 1000}
    recorded: {kind: recording, from: a, to: b, recording: keys.csv}
)",
    R"(
robots:
  a: {at: [0, 0, 1], antenna: {height_m: 1, gain_dbi: 2, pattern: dipole}}
  b: {at: [9, 0, 1]}
radio:
  kind: 802.11g
  rate: 24
  rate_control: fixed
  shadowing_db: 3
  channel: {path_loss: two_ray, diffraction: knife_edge, shadowing_distance_m: 10, fading: rician,
    k_los_db: 6, k_nlos_db: -10, scatterer_speed: 1, noise_figure_db: 7, interference_dbm: -90,
    frequency_mhz: 2412}
  jammers:
    van: {at: [10, 0, 2], power_dbm: 20, duty: 0.5, period_ms: 10, band_mhz: [2400, 2420]}
    own: {robot: b}
)",
    R"(
robots: {a: {at: [0, 0, 1]}, b: {at: [9, 0, 1]}}
radio:
  kind: 802.11n
  channel: {path_loss: air_to_ground, environment: urban_micro, sight_distance_m: 40,
    fading: nakagami, m_los: 3, m_nlos: 1}
)",
    R"(
robots: {a: {at: [0, 0, 1]}, b: {at: [9, 0, 1]}}
radio: {simulator: ns3, transport: tcp, kind: 802.11g, channel: {models: hyphos}}
routing: {protocol: aodv, hello_s: 1}
)",
    R"(
robots: {a: {at: [0, 0, 1]}, b: {at: [9, 0, 1]}}
radio:
  kind: cell
  cell: {core_delay_ms: 5, load: 0.2, handover_db: 3, time_to_trigger_ms: 100, interruption_ms: 50}
  cells: {north: {at: [0, 200, 25], tx_power_dbm: 40, gain_dbi: 10}}
)",
    R"(
physics: {simulator: mujoco}
robots:
  anna:
    at: [0, 0, 0]
    plan: nodes/last.yaml
    nodes: [follow]
    set: [nodes.follow.params.distance_m=4]
    body: {command: {timeout_ms: 500, speed: 1, turn: 1}}
    sensors:
      imu: {channel: imu, frame: base, rate_hz: 100, noise_m_s2: 0.1, noise_rad_s: 0.1}
      camera: {channel: image, frame: camera, rate_hz: 5, width: 320, height: 240, fov_deg: 60,
        depth: true, mount: [0, 0, 0], down_deg: 1, left_deg: 1, nearest_m: 0.1, range_m: 50}
  bert:
    kind: ugv
    waypoints: [[9, 0, 0], [9, 9, 0]]
    model: {file: models/cart.xml, folder: models, drive: wheels, left: [left_motor],
      right: [right_motor], wheel_radius_m: 0.1, track_m: 0.36, torque_nm: 10}
  cleo: {kind: uav, at: [0, 5, 0], model: {file: models/cart.xml, drive: rotors, rotors: [a, b]}}
  dora: {kind: uav, at: [0, 9, 0], mavlink: {autopilot: px4, system_id: 3,
    remote: "127.0.0.1:14550", port: 14540}}
channels: {position: {from: anna, to: bert, as: ahead/position}}
nodes: {pose_channel: odom, pose_rate_hz: 50, command_channel: cmd_vel, timeout_s: 20,
  transforms: true}
)",
    R"(
robots:
  anna:
    at: [0, 0, 0]
    run: [python3, x.py]
    body: {gateway: [ros1], namespace: anna, wait_for: [cmd_vel], clock_rate_hz: 100, rest_ms: 2,
      discovery_s: 1, command: {timeout_ms: 500}}
    sensors:
      lidar: {channel: scan, frame: lidar, rate_hz: 10, rays: 90, from_deg: -90, to_deg: 90,
        nearest_m: 0.1, range_m: 20, noise_m: 0.1, mount: [0, 0, 0], body_m: 0.3}
  bert: {at: [9, 0, 0]}
channels: {position: {from: anna, to: [bert]}}
realtime: {lag_p99_ms: 1, lag_longest_ms: 20, subnet: 10.231.77.0/24, subnet6: "fd48:5900:77::/64",
  mtu: 1500, hold_senders: true, probes: [[anna, bert]], probe_ms: 100, priority: 1, spin_us: 60}
)",
};

/// A value in the place of the value of one key.
struct Mutation {
  std::string map;  ///< path of the map, "" for the document
  std::string key;
  std::string value;
};

/// Writes a document with every key on its own line, and remembers the line of the mutated key.
class Writer {
 public:
  explicit Writer(const Mutation& mutation) : mutation_(mutation) {}

  void write(const Value& value, const std::string& path, int depth) {
    if (value.is(Value::Kind::map)) return write_map(value, path, depth);
    if (value.is(Value::Kind::list) && std::ranges::any_of(value.items, is_map)) {
      for (std::size_t i = 0; i < value.items.size(); ++i) {
        line(depth, "-");
        write(value.items[i], path + "[" + std::to_string(i) + "]", depth + 1);
      }
      return;
    }
    text.pop_back();  // the end of the line of its key
    --lines_;
    line(0, " " + inline_text(value));
  }

  std::string text;
  int mutated_line = 0;

 private:
  static bool is_map(const Value& value) { return value.is(Value::Kind::map); }

  static std::string inline_text(const Value& value) {
    if (value.is(Value::Kind::scalar)) return value.plain ? value.text : '"' + value.text + '"';
    std::string all;
    for (const Value& item : value.items) all += (all.empty() ? "" : ", ") + inline_text(item);
    return value.is(Value::Kind::list) ? "[" + all + "]" : "";
  }

  void write_map(const Value& value, const std::string& path, int depth) {
    const bool mutated = path == mutation_.map;
    for (const config::Entry& entry : value.entries) {
      if (mutated && entry.key == mutation_.key) continue;
      line(depth, entry.key + ":");
      write(entry.value, path.empty() ? entry.key : path + "." + entry.key, depth + 1);
    }
    if (mutated) {
      line(depth, mutation_.key + ": " + mutation_.value);
      mutated_line = lines_;
    } else if (value.entries.empty()) {
      line(depth, "{}");
    }
  }

  void line(int depth, const std::string& words) {
    text += std::string(static_cast<std::size_t>(2 * depth), ' ') + words + "\n";
    ++lines_;
  }

  const Mutation& mutation_;
  int lines_ = 0;
};

/// Adds all maps, by path.
void add_maps(const Value& value, const std::string& path,
              std::vector<std::pair<std::string, const Value*>>& maps) {
  if (value.is(Value::Kind::map)) maps.emplace_back(path, &value);
  for (const config::Entry& entry : value.entries) {
    add_maps(entry.value, path.empty() ? entry.key : path + "." + entry.key, maps);
  }
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    add_maps(value.items[i], path + "[" + std::to_string(i) + "]", maps);
  }
}

/// "radio.jammers.van.at" as "radio.jammers.*.at", because the name is that of a user.
std::string general(const std::string& map) {
  std::string path = map;
  for (const std::string named : {"robots.", "radio.jammers.", "radio.cells.", "traffic.flows.",
                                  "routing.routes.", "channels."}) {
    if (!path.starts_with(named)) continue;
    const std::size_t end = std::min(path.find('.', named.size()), path.size());
    path.replace(named.size(), end - named.size(), "*");
  }
  return path;
}

class Keys : public testing::Test {
 protected:
  Keys() {
    std::filesystem::create_directory(folder_);
    for (const char* name : {"models", "nodes", "network.csv"}) {
      std::filesystem::create_symlink(std::filesystem::path(COSIM_EXAMPLES) / name, folder_ / name);
    }
    write("keys.obj", "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 3\nf 1 2 3\n");
    write("keys.pgm", "P2\n3 3\n255\n0 1 2\n3 4 5\n6 7 8\n");
    write("keys.csv", "0.0,0102\n0.1,0304\n");
  }
  ~Keys() override { std::filesystem::remove_all(folder_); }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  /// The error of a scenario with a mutation, and the line of the mutated key. No error: accepted.
  struct Outcome {
    std::optional<Error> error;
    std::string at;  ///< "…/keys.yaml:7:"
    std::string text;
  };
  [[nodiscard]] Outcome read(const Value& document, const Mutation& mutation) const {
    Writer writer(mutation);
    writer.write(document, "", 0);
    const std::string name = folder_ / "keys.yaml";
    auto scenario = parse_scenario(writer.text, name);
    Outcome outcome{std::nullopt, name + ":" + std::to_string(writer.mutated_line) + ":",
                    writer.text};
    if (!scenario) outcome.error = scenario.error();
    return outcome;
  }
  /// The keys of a map, from the error about an unknown one. Empty: the keys are names of a user.
  [[nodiscard]] std::vector<std::string> keys_of(const Value& document,
                                                 const std::string& map) const {
    const Outcome outcome = read(document, {map, "qqqqqqqq", "1"});
    if (!outcome.error) {
      ADD_FAILURE() << map << " accepts any key";
      return {};
    }
    const std::string text = outcome.error->to_string();
    const std::string begin = "qqqqqqqq: unknown key (keys here are: ";
    const std::size_t at = text.find(begin);
    if (at == std::string::npos) return {};
    std::vector<std::string> keys;
    std::size_t from = at + begin.size();
    const std::size_t end = text.find(')', from);
    while (from < end) {
      const std::size_t next = std::min(text.find(", ", from), end);
      keys.push_back(text.substr(from, next - from));
      from = next + 2;
    }
    return keys;
  }

 private:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("cosim-keys-" + std::to_string(::getpid()));
};

Value parse(const char* text) {
  config::Problems problems;
  Value document = config::parse_yaml(text, "base", problems);
  EXPECT_FALSE(problems.failed()) << problems.to_error().to_string();
  return document;
}

TEST_F(Keys, every_key_refuses_impossible_values_with_its_line) {
  // Of another kind, not a number, beyond every range.
  const std::vector<std::string> never{"{qqqqqqqq: {qqqqqqqq: 1}}", "[[[qqqqqqqq]]]"};
  const std::vector<std::string> no_number{".nan", ".inf", "-.inf", "1e999", "-1e30", "1e30"};
  std::set<std::string> known;
  std::set<std::string> used;
  std::size_t refused = 0;
  for (const char* text : kScenarios) {
    const Value document = parse(text);
    const Outcome good = read(document, {"none", "", ""});
    if (good.error) {
      ADD_FAILURE() << good.text << good.error->to_string();
      continue;
    }
    std::vector<std::pair<std::string, const Value*>> maps;
    add_maps(document, "", maps);
    for (const auto& [map, entries] : maps) {
      for (const std::string& key : keys_of(document, map)) {
        const std::string name = general(map) + "." + key;
        known.insert(name);
        // Only there the value is the one mistake.
        if (entries->find(key) == nullptr) continue;
        used.insert(name);
        std::vector<std::string> values = never;
        // A key that accepts any words has no numbers.
        if (read(document, {map, key, "qqqqqqqq"}).error) {
          values.insert(values.end(), no_number.begin(), no_number.end());
        }
        for (const std::string& value : values) {
          const Outcome outcome = read(document, {map, key, value});
          const std::string what = name + ": " + value;
          if (!outcome.error) {
            ADD_FAILURE() << what << " is accepted";
            continue;
          }
          EXPECT_EQ(outcome.error->code, Code::invalid_config) << what;
          const std::string told = outcome.error->to_string();
          const std::size_t at = told.find(outcome.at);
          if (at == std::string::npos) {
            ADD_FAILURE() << what << " is not at " << outcome.at << "\n" << told;
            continue;
          }
          // "file:line:column: key: reason"
          const std::string own = told.substr(at, told.find('\n', at) - at);
          const std::size_t named = own.find(key, outcome.at.size());
          EXPECT_NE(named, std::string::npos) << own;
          EXPECT_GT(own.size(), named + key.size() + 10) << "no reason: " << own;
          ++refused;
        }
      }
    }
  }
  std::vector<std::string> missing;
  std::ranges::set_difference(known, used, std::back_inserter(missing));
  EXPECT_EQ(missing, std::vector<std::string>({"robots.*.body.scan"}))
      << "give a new key a valid value in kScenarios";
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace hyphos::cosim
