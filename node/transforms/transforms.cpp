#include "hyphos/transforms.hpp"

#include <array>
#include <future>
#include <optional>
#include <utility>

#include "graph/subscriber.hpp"
#include "node/transforms/tf_codec.hpp"
#include "node/transforms/transforms_impl.hpp"

namespace hyphos {
namespace {

/// The block that this thread is publishing. Our own subscription receives it inside publish() and
/// ignores it, because the tree already has it.
thread_local const detail::Block* own_block = nullptr;

TypeSupport raw_support() {
  TypeSupport support;
  support.id = tf::message_type();
  return support;
}

Policy wish(bool is_static) {
  Policy policy;
  policy.latched = is_static;
  policy.depth = is_static ? 10 : 100;
  return policy;
}

/// Encodes into shared memory if a process outside subscribes.
Buffer encoded(std::span<const Transform> transforms, detail::PublisherCore& core) {
  const std::size_t size = tf::size(transforms);
  if (size == 0) return {};
  WritableBuffer memory = core.loan(size);
  if (memory.empty()) memory = WritableBuffer::on_heap(size);
  tf::write(transforms, memory.data());
  return std::move(memory).freeze();
}

Error closed() {
  return {Code::disconnected, "the process is shutting down. Nothing was sent", {}};
}

}  // namespace

Transforms::Impl::Impl(graph::Graph& graph, Channels channels, std::string node,
                       TransformsOptions options)
    : channels_(std::move(channels)),
      node_(std::move(node)),
      tree_([&] {
        options.tree.notice = [this, told = options.tree.notice](const std::string& text) {
          if (std::uint64_t more = 0; notices_.allow(more)) {
            log::warn("tf", text + (more > 0 ? " (and " + std::to_string(more) + " more)" : ""));
          }
          if (told) told(text);
        };
        return options.tree;
      }()),
      waits_(options.max_waiting),
      graph_(&graph) {}

Result<void> Transforms::Impl::open() {
  for (const bool is_static : {false, true}) {
    auto made = listen(is_static ? channels_.fixed : channels_.moving, is_static);
    if (!made) return made.error();
    const MutexLock lock(mutex_);
    subscribers_.push_back(std::move(*made));
  }
  return success();
}

Result<std::shared_ptr<graph::Subscriber>> Transforms::Impl::listen(const std::string& channel,
                                                                    bool is_static) {
  auto callback = [this, is_static](const detail::Delivery& delivery, const void* value) {
    take(delivery, *static_cast<const Envelope*>(value), is_static);
  };
  graph::Graph* graph = nullptr;
  {
    const MutexLock lock(mutex_);
    graph = graph_;
  }
  // Inline: processed on arrival, independent of the pool.
  return graph->subscribe(channel, raw_support(), wish(is_static), Scope::network, Mode::inline_,
                          true, node_, std::move(callback));
}

void Transforms::Impl::close() {
  std::vector<std::shared_ptr<graph::Subscriber>> subscribers;
  std::array<Core, 2> publishers;
  {
    const MutexLock lock(mutex_);
    closing_ = true;
    subscribers.swap(subscribers_);
    for (std::size_t i = 0; i < 2; ++i) publishers[i].swap(publishers_[i]);
  }
  for (const auto& subscriber : subscribers) subscriber->close();
  waits_.stop();  // while the pool still runs the callbacks
  const MutexLock lock(mutex_);
  graph_ = nullptr;
}

void Transforms::Impl::take(const detail::Delivery& delivery, const Envelope& message,
                            bool is_static) {
  if (delivery.block.get() == own_block) return;
  const std::uint64_t sender = message.meta.sender;
  std::uint64_t bad = 0;
  std::string first;
  const auto note = [&](const Error& error) {
    if (bad++ == 0) first = error.to_string();
  };
  const auto read = tf::read(message.payload.bytes(), [&](const Transform& transform) {
    auto set = is_static ? tree_.set_static(transform, sender) : tree_.set(transform, sender);
    if (!set) note(set.error());
  });
  if (!read) note(read.error());
  waits_.check();
  if (bad == 0) return;
  if (std::uint64_t more = 0; problems_.allow(more)) {
    more += bad - 1;
    log::warn(is_static ? channels_.fixed : channels_.moving,
              "refused: " + first + (more > 0 ? " (and " + std::to_string(more) + " more)" : ""));
  }
}

Result<Transforms::Impl::Core> Transforms::Impl::publisher(bool is_static) {
  const MutexLock lock(mutex_);
  if (closing_) return closed();
  Core& core = publishers_[is_static ? 1 : 0];
  if (!core) {
    static const TypeSupport support = raw_support();
    auto made = graph_->publisher(is_static ? channels_.fixed : channels_.moving, support,
                                  wish(is_static), Scope::network, node_);
    if (!made) return made.error();
    core = std::move(*made);
  }
  return core;
}

Result<void> Transforms::Impl::publish(std::span<const Transform> transforms, bool is_static) {
  auto core = publisher(is_static);
  if (!core) return core.error();
  detail::BlockRef block = (*core)->block();
  block->set_encoded(encoded(transforms, **core), {});
  const detail::Block* const outer = std::exchange(own_block, block.get());
  const Published published = (*core)->publish(std::move(block));
  own_block = outer;
  if (!published) {
    return Error{*published.failure, "the transforms were set here, but not sent",
                 (*core)->channel()};
  }
  return success();
}

Result<void> Transforms::Impl::set(std::span<const Transform> transforms, bool is_static) {
  std::vector<Transform> good;  // used only if some are refused
  bool all_good = true;
  std::optional<Error> first;
  for (std::size_t i = 0; i < transforms.size(); ++i) {
    auto set = is_static ? tree_.set_static(transforms[i]) : tree_.set(transforms[i]);
    if (!set && !first) first = set.error();
    if (!set && std::exchange(all_good, false)) {
      good.assign(transforms.begin(), transforms.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (set && !all_good) good.push_back(transforms[i]);
  }
  const std::span<const Transform> sent = all_good ? transforms : std::span<const Transform>(good);
  if (!sent.empty()) {
    waits_.check();
    auto published = is_static ? publish_static(sent) : publish(sent, false);
    if (!is_static && forget_static(sent)) {
      if (auto again = send_static(); !again && published) published = again;
    }
    if (!published && !first) first = published.error();
  }
  if (first) return *first;
  return success();
}

void Transforms::Impl::keep_static(std::span<const Transform> changed) {
  const MutexLock lock(mutex_);
  for (const Transform& t : changed) {
    statics_.insert_or_assign(std::string(detail::bare_frame(t.child)), t);
  }
  static_changed_ = true;
}

/// From now on, a frame that moves is no longer sent as a static one.
bool Transforms::Impl::forget_static(std::span<const Transform> moving) {
  const MutexLock lock(mutex_);
  if (statics_.empty()) return false;
  std::size_t gone = 0;
  for (const Transform& t : moving) {
    gone += statics_.erase(std::string(detail::bare_frame(t.child)));
  }
  static_changed_ = static_changed_ || gone > 0;
  return gone > 0;
}

Result<void> Transforms::Impl::publish_static(std::span<const Transform> changed) {
  keep_static(changed);
  return send_static();
}

Result<void> Transforms::Impl::send_static() {
  UniqueLock lock(mutex_);
  if (static_sending_) return success();  // the sending thread sees the change
  static_sending_ = true;
  Result<void> sent = success();
  while (static_changed_) {
    static_changed_ = false;
    std::vector<Transform> all;
    for (const auto& [child, transform] : statics_) all.push_back(transform);
    lock.unlock();
    sent = publish(all, true);
    lock.lock();
  }
  static_sending_ = false;
  return sent;
}

void Transforms::Impl::wait(std::string_view target, std::string_view source, Time time,
                            Duration timeout, TransformWaits::Answer answer) {
  waits_.add(detail::TransformPath(tree_.store(), target, source), time, timeout,
             std::move(answer));
}

void Transforms::Impl::wait_on_pool(std::string_view target, std::string_view source, Time time,
                                    Duration timeout, Callback done) {
  wait(target, source, time, timeout, [this, done = std::move(done)](Result<Transform> result) {
    auto call = [done, result = std::move(result)]() mutable {
      try {
        done(std::move(result));
      } catch (const std::exception& error) {
        log::error("tf", std::string("the callback of a wait threw an exception: ") + error.what());
      } catch (...) {
        log::error("tf", "the callback of a wait threw an unknown exception");
      }
    };
    {
      const MutexLock lock(mutex_);
      if (graph_ != nullptr) return graph_->executor().enqueue(Priority::normal, std::move(call));
    }
    call();  // the pool has ended
  });
}

void Transforms::Impl::clear() { tree_.clear(); }

Result<void> Transforms::set(const Transform& transform) const {
  return impl_->set({&transform, 1}, false);
}
Result<void> Transforms::set(std::span<const Transform> transforms) const {
  return impl_->set(transforms, false);
}
Result<void> Transforms::set_static(const Transform& transform) const {
  return impl_->set({&transform, 1}, true);
}
Result<void> Transforms::set_static(std::span<const Transform> transforms) const {
  return impl_->set(transforms, true);
}

Result<Transform> Transforms::get(std::string_view target, std::string_view source,
                                  Time time) const {
  return impl_->tree().get(target, source, time);
}

Result<Transform> Transforms::get(std::string_view target, Time target_time,
                                  std::string_view source, Time source_time,
                                  std::string_view fixed_frame) const {
  return impl_->tree().get(target, target_time, source, source_time, fixed_frame);
}

Result<Transform> Transforms::get(std::string_view target, std::string_view source, Time time,
                                  Duration timeout) const {
  auto promise = std::make_shared<std::promise<Result<Transform>>>();
  impl_->wait(target, source, time, timeout,
              [promise](Result<Transform> result) { promise->set_value(std::move(result)); });
  return promise->get_future().get();
}

void Transforms::wait_inline(std::string_view target, std::string_view source, Time time,
                             Duration timeout, Callback done) const {
  impl_->wait(target, source, time, timeout, std::move(done));
}

void Transforms::wait(std::string_view target, std::string_view source, Time time, Duration timeout,
                      Callback done) const {
  impl_->wait_on_pool(target, source, time, timeout, std::move(done));
}

TransformLookup Transforms::lookup(std::string_view target, std::string_view source) const {
  return impl_->tree().lookup(target, source);
}

Result<TransformChain> Transforms::chain(std::string_view target, std::string_view source) const {
  return impl_->tree().chain(target, source);
}

std::vector<TransformEdge> Transforms::edges() const { return impl_->tree().edges(); }
TransformCounters Transforms::counters() const { return impl_->tree().counters(); }
void Transforms::clear() const { impl_->clear(); }
const std::string& Transforms::channel() const { return impl_->channels().moving; }

}  // namespace hyphos
