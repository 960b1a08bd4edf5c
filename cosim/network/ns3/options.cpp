#include "cosim/network/ns3/options.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "cosim/adapter/settings.hpp"

namespace hyphos::cosim {
namespace {

struct Real {
  std::string_view key;
  double RadioOptions::* member;
  double least;
  double most;
};
constexpr std::array kReals{Real{"rate_mbit", &RadioOptions::rate_mbit, 6, 54},
                            Real{"tx_power_dbm", &RadioOptions::tx_power_dbm, -100, 100},
                            Real{"path_loss_exponent", &RadioOptions::path_loss_exponent, 0.1, 20},
                            Real{"reference_loss_db", &RadioOptions::reference_loss_db, -200, 200},
                            Real{"shadowing_db", &RadioOptions::shadowing_db, 0, 100},
                            Real{"noise_dbm", &RadioOptions::noise_dbm, -100, 0},
                            Real{"detection_dbm", &RadioOptions::detection_dbm, -200, 0}};

struct Whole {
  std::string_view key;
  std::uint32_t RadioOptions::* member;
  double least;
  double most;
};
constexpr std::array kWholes{Whole{"queue_packets", &RadioOptions::queue_packets, 1, 1e6},
                             Whole{"retry_limit", &RadioOptions::retry_limit, 1, 255},
                             Whole{"cw_min", &RadioOptions::cw_min, 0, 32767},
                             Whole{"cw_max", &RadioOptions::cw_max, 0, 32767}};

template <typename Known>
const Known* find(std::span<const Known> all, std::string_view key) {
  const auto found = std::ranges::find(all, key, &Known::key);
  return found == all.end() ? nullptr : &*found;
}

Result<void> take(Ns3Options& options, const Setting& setting) {
  if (const Real* real = find<Real>(kReals, setting.key); real != nullptr) {
    auto value = number(setting, real->least, real->most);
    if (!value) return value.error();
    options.radio.*real->member = *value;
  } else if (const Whole* whole = find<Whole>(kWholes, setting.key); whole != nullptr) {
    auto value = number(setting, whole->least, whole->most, true);
    if (!value) return value.error();
    options.radio.*whole->member = static_cast<std::uint32_t>(*value);
  } else if (setting.key == "host_jitter_ns") {
    auto value = number(setting, 0, 1e9, true);
    if (!value) return value.error();
    options.radio.host_jitter = {static_cast<std::int64_t>(*value)};
  } else if (setting.key == "box") {
    auto solid = box(setting);
    if (!solid) return solid.error();
    options.boxes.push_back(*solid);
  } else if (setting.key == "transport") {
    const std::string_view value = setting.values.size() == 1 ? setting.values[0] : "";
    if (value != "udp" && value != "tcp") {
      return Error{Code::invalid_config, "must be udp or tcp", "transport"};
    }
    options.transport = value == "tcp" ? Transport::tcp : Transport::udp;
  } else {
    return unknown(setting);
  }
  return success();
}

}  // namespace

std::string to_text(const Ns3Options& options) {
  std::string text = options.transport == Transport::tcp ? "transport tcp\n" : "transport udp\n";
  for (const Real& real : kReals) {
    write_setting(text, real.key, std::array{options.radio.*real.member});
  }
  for (const Whole& whole : kWholes) {
    write_setting(text, whole.key, std::array{static_cast<double>(options.radio.*whole.member)});
  }
  write_setting(text, "host_jitter_ns",
                std::array{static_cast<double>(options.radio.host_jitter.ns)});
  for (const Box& solid : options.boxes) write_box(text, solid);
  return text;
}

Result<Ns3Options> ns3_options(std::string_view text) {
  Ns3Options options;
  for (const Setting& setting : read_settings(text)) {
    if (auto taken = take(options, setting); !taken) return taken.error();
  }
  return options;
}

}  // namespace hyphos::cosim
