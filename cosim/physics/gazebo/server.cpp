#include "cosim/physics/gazebo/server.hpp"

#include <algorithm>
#include <chrono>
#include <ignition/transport/Node.hh>
#include <utility>

#include "base/mutex.hpp"
#include "cosim/physics/gazebo/messages.hpp"

namespace hyphos::cosim {
namespace {

constexpr std::size_t kMostNames = 20;

ignition::transport::NodeOptions node_options(const GazeboOptions& options) {
  ignition::transport::NodeOptions made;
  if (!options.partition.empty()) made.SetPartition(options.partition);
  return made;
}

template <typename Family>
class Server final : public GazeboServer {
 public:
  explicit Server(const GazeboOptions& options)
      : options_(options),
        service_("/world/" + options.world + "/control"),
        topic_(options.pose_topic.empty() ? "/world/" + options.world + "/dynamic_pose/info"
                                          : options.pose_topic),
        node_(node_options(options)) {
    std::function<void(const typename Family::Poses&)> told =
        [this](const typename Family::Poses& poses) { take(poses); };
    node_.Subscribe(topic_, told);
  }
  ~Server() override { node_.Unsubscribe(topic_); }

  Result<void> step(std::uint32_t count, std::uint64_t seed, Duration patience) override {
    typename Family::WorldControl request;
    request.set_pause(true);
    request.set_multi_step(count);
    if (seed != 0) request.set_seed(static_cast<std::uint32_t>(seed));
    typename Family::Boolean reply;
    bool worked = false;
    const auto timeout_ms =
        static_cast<unsigned>(std::max<std::int64_t>(patience.ns, 0) / 1'000'000);
    if (!node_.Request(service_, request, timeout_ms, reply, worked)) return no_answer();
    if (!worked || !reply.data()) {
      return Error{Code::io, "the server refused to step on " + service_, "gazebo"};
    }
    return success();
  }

  std::optional<Frame> wait_for(Time stamp, Time deadline) override {
    UniqueLock lock(mutex_);
    const auto until = std::chrono::steady_clock::now() +
                       std::chrono::nanoseconds((deadline - monotonic_now()).ns);
    const bool there = arrived_.wait_until(lock, until, [&]() HYPHOS_REQUIRES(mutex_) {
      return latest_.has_value() && latest_->stamp >= stamp;
    });
    return there ? latest_ : std::nullopt;
  }

  std::optional<Frame> latest() override {
    const MutexLock lock(mutex_);
    return latest_;
  }

  std::string other_type() const override {
    std::vector<ignition::transport::MessagePublisher> publishers;
    node_.TopicInfo(topic_, publishers);
    for (const auto& publisher : publishers) {
      if (publisher.MsgTypeName() != typename Family::Poses().GetTypeName()) {
        return publisher.MsgTypeName();
      }
    }
    return {};
  }

 private:
  void take(const typename Family::Poses& poses) {
    Frame frame;
    const auto& stamp = poses.header().stamp();
    frame.stamp = {stamp.sec() * 1'000'000'000 + stamp.nsec()};
    frame.places.resize(options_.models.size());
    for (const auto& pose : poses.pose()) {
      if (frame.names.size() < kMostNames) frame.names.push_back(pose.name());
      const auto found = std::ranges::find(options_.models, pose.name());
      if (found == options_.models.end()) continue;
      // Links may have the names of models. Models come first.
      auto& place = frame.places[static_cast<std::size_t>(found - options_.models.begin())];
      if (place) continue;
      const auto& p = pose.position();
      const auto& q = pose.orientation();
      place = Place{{p.x(), p.y(), p.z()}};
      if (pose.has_orientation()) place->orientation = {q.x(), q.y(), q.z(), q.w()};
    }
    {
      const MutexLock lock(mutex_);
      latest_ = std::move(frame);
    }
    arrived_.notify_all();
  }

  Error no_answer() const {
    std::vector<ignition::transport::ServicePublisher> servers;
    node_.ServiceInfo(service_, servers);
    const std::string waited = std::to_string(options_.timeout.ns / 1'000'000) + " ms";
    if (servers.empty()) {
      return {Code::disconnected,
              "no Gazebo server offers " + service_ + " within " + waited +
                  ": check that it runs with this world and in this partition",
              "gazebo"};
    }
    for (const auto& server : servers) {
      if (server.ReqTypeName() == typename Family::WorldControl().GetTypeName()) continue;
      return {Code::invalid_config,
              "the Gazebo server expects '" + server.ReqTypeName() + "' on " + service_ +
                  ", not '" + typename Family::WorldControl().GetTypeName() +
                  "': set `messages` to ignition up to Fortress, to gz since Harmonic",
              "gazebo"};
    }
    return {Code::timeout, "the Gazebo server did not reply on " + service_ + " for " + waited,
            "gazebo"};
  }

  GazeboOptions options_;
  std::string service_;
  std::string topic_;
  Mutex mutex_;
  Condition arrived_;
  std::optional<Frame> latest_ HYPHOS_GUARDED_BY(mutex_);
  ignition::transport::Node node_;  // destroyed first: no message arrives after its target
};

}  // namespace

std::unique_ptr<GazeboServer> GazeboServer::make(const GazeboOptions& options) {
  if (options.messages == GazeboMessages::gz) return std::make_unique<Server<GzFamily>>(options);
  return std::make_unique<Server<IgnitionFamily>>(options);
}

}  // namespace hyphos::cosim
