#include "gateway/ros_tcp/ros_tcp.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "gateway/net/listener.hpp"
#include "gateway/net/loop.hpp"
#include "gateway/ros_tcp/session.hpp"

namespace hyphos::gateway {
namespace {

using ros_tcp::Session;
using ros_tcp::Settings;

Error bad_option(const std::string& key, const std::string& what) {
  return {Code::invalid_config, what, "ros_tcp." + key};
}

Result<Settings> read(const Options& options) {
  if (options.tls) return bad_option("tls", "ROS-TCP supports no TLS. Remove the TLS options");
  if (!options.tokens.empty()) {
    return bad_option("tokens", "ROS-TCP supports no tokens. Remove the option");
  }
  Settings settings;
  settings.service_timeout = Duration::from_seconds(60);
  // Lengths on the wire have 32 bits.
  settings.max_message =
      std::min<std::size_t>(options.max_message, std::numeric_limits<std::uint32_t>::max());
  settings.limits = options.limits;
  settings.stream.queue = {.depth = std::max<std::size_t>(options.queue_depth, 1),
                           .bytes = options.queue_bytes};
  for (const auto& [key, value] : options.own) {
    if (key == "ros") {
      if (value != "1" && value != "2") {
        return bad_option(key, "'" + value + "' must be '1' or '2'");
      }
      settings.ros2 = value == "2";
    } else if (key == "service_timeout_ms") {
      std::int64_t ms = 0;
      const auto [end, failed] = std::from_chars(value.data(), value.data() + value.size(), ms);
      if (failed != std::errc() || end != value.data() + value.size() || ms < 1 ||
          ms > 86'400'000) {
        return bad_option(key,
                          "'" + value + "' must be a number of milliseconds from 1 to 86400000");
      }
      settings.service_timeout = Duration::from_ms(ms);
    } else {
      return bad_option(key, "unknown option. Use 'ros' or 'service_timeout_ms'");
    }
  }
  return settings;
}

class RosTcp final : public Protocol {
 public:
  RosTcp(GraphFacade& facade, Settings settings)
      : facade_(facade), settings_(std::move(settings)) {}

  Result<void> open(const Options& options) {
    net::Listener::Callbacks callbacks;
    callbacks.accepted = [this](net::Connection connection) {
      Session::serve(facade_, loops_.next(), std::move(connection), settings_, services_,
                     loan_budget_);
    };
    callbacks.refused = [this, most = options.max_clients](net::Connection connection) {
      const std::string why = at_limit("the gateway", most, "clients", "--max-clients");
      facade_.clients().count({"ros_tcp " + connection.peer}, "too_many_clients", why);
      Session::refuse(loops_.any(), std::move(connection), settings_, why);
    };
    auto listener = net::Listener::open(
        loops_.any(),
        {.host = options.host, .port = options.port, .max_clients = options.max_clients},
        std::move(callbacks));
    if (!listener) return listener.error();
    listener_ = std::move(*listener);
    return success();
  }

  [[nodiscard]] std::string address() const override { return "tcp://" + listener_->address(); }
  [[nodiscard]] std::uint16_t port() const override { return listener_->port(); }

 private:
  GraphFacade& facade_;
  const Settings settings_;
  const std::shared_ptr<ros_tcp::UnityServices> services_ =
      std::make_shared<ros_tcp::UnityServices>();
  LoanBudget loan_budget_{settings_.max_message};
  net::Loops loops_;
  std::unique_ptr<net::Listener> listener_;  ///< destroyed before the loops
};

}  // namespace

Result<std::unique_ptr<Protocol>> open_ros_tcp(GraphFacade& facade, const Options& options) {
  auto settings = read(options);
  if (!settings) return settings.error();
  auto gateway = std::make_unique<RosTcp>(facade, std::move(*settings));
  if (auto opened = gateway->open(options); !opened) return opened.error();
  return std::unique_ptr<Protocol>(std::move(gateway));
}

}  // namespace hyphos::gateway
