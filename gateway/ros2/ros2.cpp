#include "gateway/ros2/ros2.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/mutex.hpp"
#include "gateway/ros2/actions_in.hpp"
#include "gateway/ros2/actions_out.hpp"
#include "gateway/ros2/context.hpp"
#include "gateway/ros2/discovery.hpp"
#include "gateway/ros2/left_out.hpp"
#include "gateway/ros2/node_graph.hpp"
#include "gateway/ros2/param_services.hpp"
#include "gateway/ros2/ros_params.hpp"
#include "gateway/ros2/services_in.hpp"
#include "gateway/ros2/services_out.hpp"
#include "gateway/ros2/topics_in.hpp"
#include "gateway/ros2/topics_out.hpp"
#include "gateway/ros2/transport.hpp"

namespace hyphos::gateway {
namespace {

using namespace ros2;

/// Interval at which the robot's graph is examined.
constexpr auto kLook = std::chrono::seconds(1);
/// Interval of attempts to publish waiting messages.
constexpr auto kDrain = std::chrono::milliseconds(4);

class Ros2 final : public Protocol {
 public:
  Ros2(GraphFacade& facade, Settings settings) : facade_(facade), settings_(std::move(settings)) {}
  Ros2(const Ros2&) = delete;
  Ros2& operator=(const Ros2&) = delete;

  Result<void> open() {
    auto participant = Participant::open(settings_, &discovery_);
    if (!participant) return participant.error();
    participant_ = std::move(*participant);
    nodes_.emplace(participant_, settings_);
    if (auto opened = nodes_->open(); !opened) return opened;
    context_.emplace(Context{facade_, settings_, participant_, &*nodes_, &discovery_,
                             [this] { wake(); }, [this] { wait_for_room(); }});
    thread_ = std::thread([this] { run(); });
    return success();
  }

  ~Ros2() override {
    {
      const MutexLock lock(mutex_);
      ending_ = true;
    }
    changed_.notify_one();
    if (thread_.joinable()) thread_.join();
    if (nodes_) nodes_->close();
    if (participant_) participant_->stop_listening();
  }

  [[nodiscard]] std::string address() const override {
    return "dds://" + (settings_.host.empty() ? "0.0.0.0" : settings_.host) + "/" +
           std::to_string(settings_.domain_id);
  }
  /// The port at which DDS finds participants.
  [[nodiscard]] std::uint16_t port() const override {
    return announcement_port(settings_.domain_id);
  }

 private:
  void wake() {
    {
      const MutexLock lock(mutex_);
      woken_ = true;
    }
    changed_.notify_one();
  }
  void wait_for_room() {
    {
      const MutexLock lock(mutex_);
      waits_ = true;
    }
    changed_.notify_one();
  }

  /// Topics, services, actions and parameters, in the order of opening.
  struct Parts {
    explicit Parts(const Context& context)
        : topics_in(context),
          topics_out(context),
          services_in(context),
          services_out(context),
          actions_in(context),
          actions_out(context, services_out),
          params(context, services_out),
          ros_params(context, params.nodes()),
          left_out(context) {}

    void look(const DomainState& state, const std::vector<TopicInfo>& channels,
              const std::vector<ServiceInfo>& services, const std::vector<ActionInfo>& actions) {
      topics_in.look(state);
      services_in.look(state);
      actions_in.look(state);
      topics_out.look(channels);
      params.look(state);
      ros_params.look(state, params.ros_names());
      actions_out.look(actions, actions_in, state);
      services_out.look(services, services_in);
    }
    /// Returns true if messages or goals still wait.
    bool drain() {
      const bool messages = topics_in.drain();
      params.drain();
      ros_params.drain();
      return actions_out.drain() || messages;
    }
    [[nodiscard]] OwnEndpoints endpoints() const {
      OwnEndpoints own;
      topics_in.add_endpoints(own);
      topics_out.add_endpoints(own);
      services_in.add_endpoints(own);
      services_out.add_endpoints(own);
      ros_params.add_endpoints(own);
      actions_in.add_endpoints(own);
      actions_out.add_endpoints(own);
      return own;
    }
    void announce(NodeGraph& nodes) const {
      auto readers = topics_in.readers();
      auto writers = topics_out.writers();
      for (const GUID_t& guid : services_in.readers()) readers.push_back(guid);
      for (const GUID_t& guid : services_out.readers()) readers.push_back(guid);
      for (const GUID_t& guid : services_in.writers()) writers.push_back(guid);
      for (const GUID_t& guid : services_out.writers()) writers.push_back(guid);
      for (const GUID_t& guid : actions_in.readers()) readers.push_back(guid);
      for (const GUID_t& guid : actions_in.writers()) writers.push_back(guid);
      for (const GUID_t& guid : actions_out.writers()) writers.push_back(guid);
      for (const GUID_t& guid : ros_params.readers()) readers.push_back(guid);
      for (const GUID_t& guid : ros_params.writers()) writers.push_back(guid);
      writers.push_back(params.events_writer());
      nodes.announce(readers, writers, params.robot_nodes());
    }

    TopicsIn topics_in;
    TopicsOut topics_out;
    ServicesIn services_in;
    ServicesOut services_out;
    ActionsIn actions_in;
    ActionsOut actions_out;
    ParamServices params;
    RosParams ros_params;
    LeftOut left_out;
  };

  /// This thread opens and ends everything. It may block, unlike the threads of DDS.
  void run() {
    Parts parts(*context_);
    UniqueLock lock(mutex_);
    while (!ending_) {
      woken_ = false;
      lock.unlock();
      const DomainState state = discovery_.state();
      const auto channels = facade_.topics().list();
      const auto services = facade_.services().list();
      const auto actions = facade_.actions().list();
      parts.look(state, channels, services, actions);
      parts.left_out.look({state, channels, services, actions, parts.endpoints()});
      parts.announce(*nodes_);
      forget_gone();
      lock.lock();
      const auto next = std::chrono::steady_clock::now() + kLook;
      while (!until(next, lock)) {
        waits_ = false;
        lock.unlock();
        const bool waits = parts.drain();
        lock.lock();
        waits_ = waits_ || waits;
      }
    }
    lock.unlock();
    parts.left_out.finish();
  }

  /// Waits until the next look. Returns false if it is time to drain first.
  bool until(std::chrono::steady_clock::time_point next, UniqueLock<Mutex>& lock)
      HYPHOS_REQUIRES(mutex_, lock) {
    const auto looks = [this]() HYPHOS_REQUIRES(mutex_) { return woken_ || ending_; };
    changed_.wait_until(lock, next, [&]() HYPHOS_REQUIRES(mutex_) { return looks() || waits_; });
    if (!waits_) return true;
    const auto soon = std::min(next, std::chrono::steady_clock::now() + kDrain);
    return changed_.wait_until(lock, soon, looks) || soon == next;
  }

  /// A present participant has at least the endpoint that announces its nodes.
  void forget_gone() {
    // read after the announcements, so that it is not older
    const DomainState state = discovery_.state();
    std::set<Gid> there;
    for (const Remotes* remotes : {&state.writers, &state.readers}) {
      for (const auto& [guid, remote] : *remotes) {
        there.insert(
            gid_of({guid.guidPrefix, eprosima::fastrtps::rtps::c_EntityId_RTPSParticipant}));
      }
    }
    nodes_->keep([&](const Gid& participant) { return there.contains(participant); });
  }

  GraphFacade& facade_;
  const Settings settings_;
  Mutex mutex_;
  bool woken_ HYPHOS_GUARDED_BY(mutex_) = false;
  bool waits_ HYPHOS_GUARDED_BY(mutex_) = false;  ///< a message waits for room
  bool ending_ HYPHOS_GUARDED_BY(mutex_) = false;
  Condition changed_;
  Discovery discovery_{[this] { wake(); }};
  std::shared_ptr<Participant> participant_;
  std::optional<NodeGraph> nodes_;
  std::optional<Context> context_;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Protocol>> open_ros2(GraphFacade& facade, const Options& options) {
  auto settings = Settings::of(options);
  if (!settings) return settings.error();
  auto gateway = std::make_unique<Ros2>(facade, std::move(*settings));
  if (auto opened = gateway->open(); !opened) return opened.error();
  return std::unique_ptr<Protocol>(std::move(gateway));
}

}  // namespace hyphos::gateway
