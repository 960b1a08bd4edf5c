#pragma once

#include <atomic>
#include <concepts>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hyphos/clock.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/node.hpp"
#include <hyphos/msgs/std.pb.h>

namespace hyphos {

/// The state of one component at the present. A check of Diagnostics fills it in:
/// `report.warn("9.1 Hz instead of 10 Hz").value("rate_hz", 9.1)`. The worst level counts. Messages
/// of that level are joined, and messages of better levels are left out. Not thread-safe.
class DiagnosticReport {
 public:
  using Level = msgs::DiagnosticStatus::Level;

  explicit DiagnosticReport(std::string name) { status_.set_name(std::move(name)); }

  DiagnosticReport& ok(std::string_view message) {
    return set(msgs::DiagnosticStatus::OK, message);
  }
  DiagnosticReport& warn(std::string_view message) {
    return set(msgs::DiagnosticStatus::WARN, message);
  }
  DiagnosticReport& error(std::string_view message) {
    return set(msgs::DiagnosticStatus::ERROR, message);
  }
  /// No news for longer than expected, e.g. from a device.
  DiagnosticReport& stale(std::string_view message) {
    return set(msgs::DiagnosticStatus::STALE, message);
  }
  DiagnosticReport& set(Level level, std::string_view message) {
    if (empty_ || level > status_.level()) {
      status_.set_level(level);
      status_.set_message(std::string(message));
    } else if (level == status_.level()) {
      status_.mutable_message()->append("; ").append(message);
    }
    empty_ = false;
    return *this;
  }

  /// Adds a text, a number or a bool. `hyphos diagnostics` shows it as key=value.
  template <typename T>
  DiagnosticReport& value(std::string_view key, const T& value) {
    auto* const pair = status_.add_values();
    pair->set_key(std::string(key));
    if constexpr (std::convertible_to<const T&, std::string_view>) {
      pair->set_value(std::string(std::string_view(value)));
    } else if constexpr (std::same_as<T, bool>) {
      pair->set_value(value ? "true" : "false");
    } else if constexpr (std::is_floating_point_v<T>) {
      char text[32];
      const int size = std::snprintf(text, sizeof(text), "%g", static_cast<double>(value));
      pair->set_value(std::string(text, static_cast<std::size_t>(size)));
    } else {
      static_assert(std::is_integral_v<T>, "a value is a text, a number or a bool");
      pair->set_value(std::to_string(value));
    }
    return *this;
  }

  /// The report as a message. Without a level, it is an error.
  [[nodiscard]] msgs::DiagnosticStatus take() && {
    if (empty_) error("the check reported no level");
    return std::move(status_);
  }

 private:
  msgs::DiagnosticStatus status_;
  bool empty_ = true;
};

/// Options of Diagnostics.
struct DiagnosticsOptions {
  Duration period = {1'000'000'000};  ///< of the node's clock
  std::string hardware_id = {};       ///< serial number or similar, for all checks
  std::string channel = "diagnostics";
};

/// Publishes the state of a node's components every second, as diagnostic_updater of ROS does.
/// `hyphos diagnostics` shows them. Each check fills in one report, named `NODE: NAME`:
///
///     hyphos::Diagnostics diagnostics(node);
///     diagnostics.add("motor", [&](hyphos::DiagnosticReport& report) {
///       if (celsius < 80) report.ok("runs"); else report.warn("hot");
///       report.value("celsius", celsius);
///     });
///
/// Cheap to copy and thread-safe. The node owns the timer, so dropping the handle ends nothing. The
/// checks run one at a time in the order of add(), on the thread pool, not under a lock. An
/// exception thrown by a check makes its report an error. All reports are then published, and the
/// log has the exception. Cost: one wake-up and one message per period.
class Diagnostics {
 public:
  using Check = std::function<void(DiagnosticReport&)>;

  /// Throws as Node::publisher() does, e.g. if the channel has another type.
  explicit Diagnostics(const Node& node, DiagnosticsOptions options = {})
      : state_(std::make_shared<State>(node, options)) {
    timer_ = node.every(options.period, [state = state_] { state->publish(); });
  }

  /// Adds a check. A check of this name is replaced.
  void add(std::string name, Check check) const {
    const std::lock_guard lock(state_->mutex);
    for (auto& [known, old] : state_->checks) {
      if (known != name) continue;
      old = std::move(check);
      return;
    }
    state_->checks.emplace_back(std::move(name), std::move(check));
  }
  /// Removes a check, if there is one of this name. It may be running for a last time on return.
  void remove(std::string_view name) const {
    const std::lock_guard lock(state_->mutex);
    std::erase_if(state_->checks, [&](const auto& known) { return known.first == name; });
  }

  /// Runs the checks and publishes now, after an important change. Rethrows the last exception of a
  /// check. No effect while the checks run in another thread, or if a check calls it.
  void publish() const { state_->publish(); }
  /// Ends the periodic reports. On return no check runs, unless a check calls it.
  void close() const { timer_.close(); }

 private:
  struct State {
    State(const Node& node, const DiagnosticsOptions& options)
        : prefix(node.name() + ": "),
          hardware_id(options.hardware_id),
          clock(node.clock()),
          publisher(node.publisher<msgs::DiagnosticArray>(options.channel)) {}

    void publish() {
      if (running.test_and_set(std::memory_order_acquire)) return;
      msgs::DiagnosticArray reports;
      reports.mutable_header()->set_stamp_ns(clock.now().ns);
      std::exception_ptr thrown;
      for (const auto& [name, check] : copied()) *reports.add_status() = run(name, check, thrown);
      if (reports.status_size() > 0) publisher.publish(std::move(reports));
      running.clear(std::memory_order_release);
      if (thrown) std::rethrow_exception(thrown);
    }

    msgs::DiagnosticStatus run(const std::string& name, const Check& check,
                               std::exception_ptr& thrown) const {
      DiagnosticReport report(prefix + name);
      try {
        check(report);
      } catch (const std::exception& problem) {
        report.error(problem.what());
        thrown = std::current_exception();
      } catch (...) {
        report.error("the check threw an exception");
        thrown = std::current_exception();
      }
      msgs::DiagnosticStatus status = std::move(report).take();
      status.set_hardware_id(hardware_id);
      return status;
    }

    std::vector<std::pair<std::string, Check>> copied() {
      const std::lock_guard lock(mutex);
      return checks;
    }

    const std::string prefix;
    const std::string hardware_id;
    const Clock clock;
    const Publisher<msgs::DiagnosticArray> publisher;
    std::atomic_flag running;
    std::mutex mutex;
    std::vector<std::pair<std::string, Check>> checks;  ///< guarded by `mutex`
  };

  std::shared_ptr<State> state_;
  Timer timer_;
};

}  // namespace hyphos
