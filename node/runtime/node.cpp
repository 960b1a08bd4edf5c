#include "hyphos/node.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/log.hpp"
#include "graph/channel_publisher.hpp"
#include "graph/subscriber.hpp"
#include "node/calls/call_client.hpp"
#include "node/calls/raw_support.hpp"
#include "node/runtime/runtime_impl.hpp"
#include "node/transforms/transforms_impl.hpp"

namespace hyphos {
namespace {

/// The core of a Subscription handle. The node alone owns the subscription and releases it once it
/// is closed, independent of the handle.
class OwnedSubscription final : public detail::SubscriptionCore {
 public:
  OwnedSubscription(std::weak_ptr<OwnSubscribers> owner,
                    const std::shared_ptr<graph::Subscriber>& subscriber)
      : owner_(std::move(owner)), subscriber_(subscriber), channel_(subscriber->channel()) {}

  void close() override {
    {
      const auto subscriber = subscriber_.lock();
      if (!subscriber) return;
      subscriber->close();
    }
    if (const auto owner = owner_.lock()) owner->forget_ended();
  }
  std::uint32_t poll(std::uint32_t most) override {
    const auto subscriber = subscriber_.lock();
    return subscriber ? subscriber->poll(most) : 0;
  }
  void count_unmatched(Unmatched why, std::uint64_t count) override {
    if (const auto subscriber = subscriber_.lock()) subscriber->count_unmatched(why, count);
  }
  [[nodiscard]] const std::string& channel() const override { return channel_; }
  [[nodiscard]] std::uint32_t publishers() const override {
    const auto subscriber = subscriber_.lock();
    return subscriber ? subscriber->publishers() : 0;
  }

 private:
  const std::weak_ptr<OwnSubscribers> owner_;
  const std::weak_ptr<graph::Subscriber> subscriber_;
  const std::string channel_;
};

}  // namespace

Result<void> Node::Impl::check_open() const {
  if (auto good = runtime_->usable(); !good) return good;
  const MutexLock lock(mutex_);
  if (!closed_) return success();
  return Error{Code::disconnected, "node '" + name_ + "' has been closed", name_};
}

void OwnSubscribers::keep(std::shared_ptr<graph::Subscriber> subscriber) {
  // A subscription closed from its own callback ends after its close().
  subscriber->when_ended([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->forget_ended();
  });
  const MutexLock lock(mutex_);
  subscribers_.push_back(std::move(subscriber));
}

void OwnSubscribers::forget_ended() {
  std::vector<std::shared_ptr<graph::Subscriber>> ended;  // destroyed without the lock
  const MutexLock lock(mutex_);
  const auto first = std::partition(subscribers_.begin(), subscribers_.end(),
                                    [](const auto& subscriber) { return !subscriber->ended(); });
  ended.assign(std::make_move_iterator(first), std::make_move_iterator(subscribers_.end()));
  subscribers_.erase(first, subscribers_.end());
}

std::vector<std::shared_ptr<graph::Subscriber>> OwnSubscribers::take() {
  const MutexLock lock(mutex_);
  return std::exchange(subscribers_, {});
}

void Node::Impl::keep(std::shared_ptr<Timer::Impl> timer) {
  const MutexLock lock(mutex_);
  std::erase_if(timers_, [](const auto& known) { return known->closed(); });
  timers_.push_back(std::move(timer));
}

void Node::Impl::keep(std::shared_ptr<detail::CallServer> server) {
  std::vector<std::shared_ptr<detail::CallServer>> closed;  // destroyed without the lock
  const MutexLock lock(mutex_);
  std::erase_if(servers_, [&](auto& known) {
    if (!known->is_closed()) return false;
    closed.push_back(std::move(known));
    return true;
  });
  servers_.push_back(std::move(server));
}

void Node::Impl::keep(std::weak_ptr<calls::ClientCore> client) {
  const MutexLock lock(mutex_);
  std::erase_if(clients_, [](const auto& known) { return known.expired(); });
  clients_.push_back(std::move(client));
}

void Node::Impl::keep(const std::shared_ptr<RemoteParams::Impl>& remote) {
  const MutexLock lock(mutex_);
  std::erase_if(remotes_, [](const auto& known) { return known.expired(); });
  remotes_.push_back(remote);
}

void Node::Impl::keep(std::weak_ptr<detail::PublisherCore> publisher) {
  const MutexLock lock(mutex_);
  std::erase_if(publishers_, [](const auto& known) { return known.expired(); });
  publishers_.push_back(std::move(publisher));
}

Result<std::shared_ptr<graph::Group>> Node::Impl::group_of(
    const std::string& channel, const SubscriptionOptions& options) const {
  if (!options.group) return std::shared_ptr<graph::Group>();
  std::string problem;
  auto group = std::dynamic_pointer_cast<graph::Group>(options.group.core());
  if (options.mode != Mode::serial) {
    problem = "a callback group requires the mode serial, not " +
              std::string(to_string(options.mode)) + ". Remove the group or the mode";
  } else if (options.ready) {
    problem =
        "a callback group has no effect on a subscription with `ready`, whose callback runs "
        "in poll(). Remove one of the two";
  } else if (group == nullptr || &group->executor() != &runtime_->graph().executor()) {
    problem = "the callback group belongs to another runtime. Make it with a node of this one";
  }
  if (problem.empty()) return group;
  return Error{Code::invalid_config,
               "node '" + name_ + "', subscription of channel '" + channel + "': " + problem,
               channel};
}

Clock Node::Impl::clock() { return Clock(runtime_->clock().core(), ended_); }

void Node::Impl::close_all() {
  if (!runtime_->usable()) return;
  close();
  if (runtime_->stopping()) return;  // ending nodes may still publish, but there is no receiver
  std::vector<std::weak_ptr<detail::PublisherCore>> publishers;
  {
    const MutexLock lock(mutex_);
    publishers.swap(publishers_);
  }
  for (const auto& weak : publishers) {
    if (const auto core = weak.lock()) static_cast<graph::ChannelPublisher&>(*core).leave();
  }
}

int Node::Impl::spin(const std::function<void()>& interrupted) {
  if (const auto good = runtime_->usable(); !good) return runtime_->spin(interrupted);
  const int event = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  bool closed = false;
  {
    const MutexLock lock(mutex_);
    closed = closed_ && !runtime_->stopping();
    spinning_.push_back(event);
  }
  const auto end = [&](int*) {
    const MutexLock lock(mutex_);
    std::erase(spinning_, event);
    ::close(event);
  };
  int nothing = 0;
  const std::unique_ptr<int, decltype(end)> ending(&nothing, end);
  return closed ? 0 : runtime_->spin(interrupted, event);
}

void Node::Impl::end_waits() {
  std::vector<std::weak_ptr<calls::ClientCore>> clients;
  std::vector<std::weak_ptr<detail::PublisherCore>> publishers;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    publishers = publishers_;
    clients.swap(clients_);
  }
  // First end the waits: a callback that waits for a subscriber or a reply would block the rest.
  for (const auto& weak : publishers) {
    if (const auto core = weak.lock()) static_cast<graph::ChannelPublisher&>(*core).end_waits();
  }
  for (const auto& weak : clients) {
    if (const auto client = weak.lock()) client->close();
  }
  *ended_ = true;
  runtime_->wake_sleepers();
}

void Node::Impl::close() {
  end_waits();  // a callback that waits for a reply would block the rest
  std::vector<std::shared_ptr<Timer::Impl>> timers;
  std::vector<std::shared_ptr<detail::CallServer>> servers;
  std::vector<std::weak_ptr<RemoteParams::Impl>> remotes;
  {
    const MutexLock lock(mutex_);
    const std::uint64_t one = 1;
    for (const int event : spinning_) (void)!::write(event, &one, sizeof one);
    timers.swap(timers_);
    servers.swap(servers_);
    remotes.swap(remotes_);
  }
  for (const auto& timer : timers) timer->close();
  for (const auto& server : servers) server->close();
  for (const auto& subscriber : subscribers_->take()) subscriber->close();
  for (const auto& weak : remotes) {
    if (const auto remote = weak.lock()) remote->close();
  }
  params_->close();
  runtime_->log_channel().remove(logger_);
}

void Timer::close() const {
  if (impl_) impl_->close();
}

std::uint64_t Timer::skipped() const { return impl_ ? impl_->skipped() : 0; }

Result<Node> Node::open(std::string name, int argc, char** argv) {
  auto runtime = Runtime::open(argc, argv);
  if (!runtime) return runtime.error();
  return runtime->node(std::move(name));
}

Result<Node> Node::open(std::string name, RuntimeOptions options) {
  auto runtime = Runtime::open(std::move(options));
  if (!runtime) return runtime.error();
  return runtime->node(std::move(name));
}

Result<std::shared_ptr<detail::PublisherCore>> Node::open_publisher(
    const std::string& channel, const TypeSupport& type, const PublisherOptions& options) const {
  if (auto open = impl_->check_open(); !open) return open.error();
  auto made = impl_->runtime().graph().publisher(impl_->channel_for(channel), type,
                                                 options.policy.value_or(Policy{}), options.scope,
                                                 impl_->name());
  if (made) impl_->keep(std::weak_ptr(*made));
  return made;
}

Result<std::shared_ptr<detail::SubscriptionCore>> Node::open_subscription(
    const std::string& channel, const TypeSupport& type, bool raw,
    const SubscriptionOptions& options, detail::Callback callback) const {
  if (auto open = impl_->check_open(); !open) return open.error();
  auto group = impl_->group_of(channel, options);
  if (!group) return group.error();
  auto made = impl_->runtime().graph().subscribe(
      impl_->channel_for(channel), type, options.policy.value_or(Policy{}), options.scope,
      options.ready ? Mode::serial : options.mode, raw, impl_->name(), std::move(callback),
      options.ready, std::move(*group));
  if (!made) return made.error();
  impl_->subscribers()->keep(*made);
  return std::shared_ptr<detail::SubscriptionCore>(
      std::make_shared<OwnedSubscription>(impl_->subscribers(), *made));
}

CallbackGroup Node::callback_group() const {
  impl_->check_open().or_throw();
  return CallbackGroup(std::make_shared<graph::Group>(impl_->runtime().graph().executor()));
}

Result<RawPublisher> Node::raw_publisher(const std::string& channel, const TypeId& type,
                                         PublisherOptions options) const {
  auto core = open_publisher(channel, raw_support(type), options);
  if (!core) return core.error();
  return RawPublisher(std::move(*core));
}

Result<Subscription> Node::raw_subscribe(
    const std::string& channel, const TypeId& type, SubscriptionOptions options,
    std::function<void(const Message<RawMessage>&)> callback) const {
  auto wrapped = [callback = std::move(callback)](const detail::Delivery& delivery,
                                                  const void* value) {
    const auto& envelope = *static_cast<const Envelope*>(value);
    const RawMessage raw{envelope.payload, envelope.buffers};
    callback(Message<RawMessage>(delivery, &raw));
  };
  auto core = open_subscription(channel, raw_support(type), true, options, std::move(wrapped));
  if (!core) return core.error();
  return Subscription(std::move(*core));
}

Timer Node::every(Duration period, std::function<void()> callback) const {
  if (period.ns <= 0) {
    throw Exception({Code::invalid_config, "a timer's period must be positive", impl_->name()});
  }
  impl_->check_open().or_throw();
  graph::Timers& timers = impl_->runtime().graph().timers();
  auto skipped = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto id = timers.every(period.ns, std::move(callback), skipped, impl_->name());
  auto timer = std::make_shared<Timer::Impl>(timers, id, std::move(skipped));
  impl_->keep(timer);
  return Timer(std::move(timer));
}

Clock Node::clock() const { return impl_->clock(); }

Timer Node::on_clock_jump(std::function<void(const ClockJump&)> callback) const {
  impl_->check_open().or_throw();
  (void)clock();  // enables the watch for settings of the wall clock
  graph::Timers& timers = impl_->runtime().graph().timers();
  auto skipped = std::make_shared<std::atomic<std::uint64_t>>(0);
  const auto id = timers.on_jump(std::move(callback), skipped, impl_->name());
  auto timer = std::make_shared<Timer::Impl>(timers, id, std::move(skipped));
  impl_->keep(timer);
  return Timer(std::move(timer));
}

Logger Node::log() const { return impl_->logger(); }
Params Node::params() const { return Params(impl_->params()); }
Transforms Node::transforms() const { return transforms(TransformsOptions{}); }
Transforms Node::transforms(TransformsOptions options) const {
  impl_->check_open().or_throw();
  const std::string before = options.prefix.empty() ? "" : options.prefix + "/";
  Transforms::Impl::Channels channels{impl_->channel_for(before + "tf"),
                                      impl_->channel_for(before + "tf_static")};
  return Transforms(impl_->runtime()
                        .transforms(std::move(channels), impl_->name(), std::move(options))
                        .or_throw());
}

double Node::param(const std::string& name, double fallback) const {
  return std::get<double>(impl_->params()->plain(name, fallback).or_throw());
}

std::int64_t Node::param(const std::string& name, std::int64_t fallback) const {
  return std::get<std::int64_t>(impl_->params()->plain(name, fallback).or_throw());
}

bool Node::param(const std::string& name, bool fallback) const {
  return std::get<bool>(impl_->params()->plain(name, fallback).or_throw());
}

std::string Node::param(const std::string& name, const std::string& fallback) const {
  return std::get<std::string>(impl_->params()->plain(name, fallback).or_throw());
}

const std::string& Node::name() const { return impl_->name(); }
Runtime Node::runtime() const { return Runtime(impl_->runtime_ptr()); }
int Node::spin(const std::function<void()>& interrupted) const { return impl_->spin(interrupted); }
void Node::close() const { impl_->close_all(); }

}  // namespace hyphos
