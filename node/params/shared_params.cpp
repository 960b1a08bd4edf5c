#include <algorithm>
#include <chrono>
#include <random>

#include "base/config.hpp"
#include "base/config_reader.hpp"
#include "hyphos/codec.hpp"
#include "node/params/param_file.hpp"
#include "node/params/shared_params_impl.hpp"
#include "node/runtime/runtime_impl.hpp"

namespace hyphos {
namespace {

/// Of dead processes, the oldest are forgotten.
constexpr std::size_t kMaxPeers = 4096;

std::uint64_t new_instance() {
  std::random_device source;
  return (std::uint64_t{source()} << 32U) | source();
}

std::uint64_t now_ns() { return static_cast<std::uint64_t>(wall_now().ns); }

bool is_at_or_below(const std::string& changed, const std::string& path) {
  return path.empty() || changed == path || changed.starts_with(path + ".");
}

std::string in_process(const std::string& process) {
  return process.empty() ? "another process" : "process '" + process + "'";
}

}  // namespace

SharedParams::Impl::Impl(graph::Graph& graph, Options options)
    : options_(std::move(options)),
      instance_(new_instance()),
      pool_(std::make_shared<ExecutorHandle>(graph)),
      watchers_([pool = pool_](std::function<void()> work) { pool->run(std::move(work)); }),
      replica_(instance_),
      tree_(replica_.tree()) {}

Result<void> SharedParams::Impl::check_open() const {
  if (pool_->graph() != nullptr) return success();
  return Error{Code::disconnected, "the process is shutting down", "shared parameters"};
}

Result<void> SharedParams::Impl::open(const ParamValue& planned) {
  restore();
  if (auto added = plan(planned); !added) return added;
  if (options_.offline) return success();
  const auto callback = [this](const detail::Delivery&, const void* value) {
    take(*static_cast<const params::v1::SharedParams*>(value));
  };
  auto made = pool_->graph()->subscribe(plan::kSharedParamsChannel,
                                        type_support<params::v1::SharedParams>(),
                                        plan::shared_params_policy(), Scope::network, Mode::serial,
                                        false, options_.process, callback);
  if (!made) return made.error();
  subscriber_ = std::move(*made);
  return success();
}

void SharedParams::Impl::close() {
  announce();  // saves and publishes the last changes
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    arrived_.notify_all();
  }
  if (subscriber_) subscriber_->close();
  if (!pool_->shut()) return;
  watchers_.close();
  const MutexLock lock(announce_mutex_);
  publisher_.reset();
}

std::shared_ptr<const ParamValue> SharedParams::Impl::tree() const {
  const MutexLock lock(mutex_);
  return tree_;
}

Result<void> SharedParams::Impl::set(
    const std::vector<std::pair<std::string, ParamValue>>& values) {
  if (auto open = check_open(); !open) return open;
  std::vector<plan::Leaf> leaves;
  for (const auto& [path, value] : values) {
    if (path.empty() && value.kind != ParamValue::Kind::map) {
      return Error{Code::invalid_config, "the whole tree is a map, not a value", ""};
    }
    for (plan::Leaf& leaf : plan::leaves_at(path, value)) leaves.push_back(std::move(leaf));
  }
  ParamSet news;
  {
    const MutexLock lock(mutex_);
    if (auto set = replica_.set(leaves, now_ns()); !set) return set;
    news = rebuild();
  }
  changed(news, true);
  return success();
}

Result<void> SharedParams::Impl::remove(const std::string& path) {
  if (auto open = check_open(); !open) return open;
  ParamSet news;
  {
    const MutexLock lock(mutex_);
    if (auto removed = replica_.remove(path, now_ns()); !removed) return removed;
    news = rebuild();
  }
  changed(news, true);
  return success();
}

Result<void> SharedParams::Impl::plan(const ParamValue& tree) {
  if (auto open = check_open(); !open) return open;
  ParamSet news;
  {
    const MutexLock lock(mutex_);
    if (auto added = replica_.plan(plan::leaves_at("", tree), now_ns()); !added) return added;
    news = rebuild();
  }
  changed(news, true);
  return success();
}

ParamSet SharedParams::Impl::rebuild() {
  std::vector<std::string> paths = replica_.rebuild();
  tree_ = replica_.tree();
  return {{}, ++version_, std::move(paths)};
}

void SharedParams::Impl::changed(const ParamSet& news, bool publish) {
  if (!news.changed().empty()) watchers_.tell(news);
  if (!publish || announcing_.exchange(true)) return;
  pool_->run([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->announce();
  });
}

void SharedParams::Impl::announce() {
  announcing_.store(false);
  const MutexLock lock(announce_mutex_);
  params::v1::SharedParams message;
  message.set_process(options_.process);
  message.set_instance(instance_);
  {
    const MutexLock state(mutex_);
    replica_.encode(message);
  }
  save(message);
  // close() first shuts the pool and then waits for announce_mutex_, so the graph outlives this
  // call.
  graph::Graph* graph = pool_->graph();
  if (graph == nullptr || options_.offline) return;
  if (!publisher_) {
    auto made =
        graph->publisher(plan::kSharedParamsChannel, type_support<params::v1::SharedParams>(),
                         plan::shared_params_policy(), Scope::network, options_.process);
    if (!made) {
      log::error("params", "process '" + options_.process +
                               "' cannot share its parameters: " + made.error().to_string());
      return;
    }
    publisher_ = std::move(*made);
  }
  Publisher<params::v1::SharedParams>(publisher_).publish(std::move(message));
}

void SharedParams::Impl::save(const params::v1::SharedParams& message) {
  if (options_.file.empty() || (message.set_size() == 0 && saved_.empty())) return;
  params::v1::SharedParams kept;
  *kept.mutable_set() = message.set();
  std::string bytes = kept.SerializeAsString();
  if (bytes == saved_) return;
  if (auto written = params::write_file(options_.file, bytes, false); !written) {
    log::error("params",
               "the shared parameters are set, but not saved: " + written.error().to_string());
    return;
  }
  saved_ = std::move(bytes);
}

void SharedParams::Impl::restore() {
  if (options_.file.empty()) return;
  config::Limits limits;
  limits.bytes = 4 * kMaxSharedBytes;
  const auto bytes = config::read_file(options_.file.string(), limits);
  if (!bytes) return;  // none, or reported when it is written
  params::v1::SharedParams kept;
  if (!kept.ParseFromString(*bytes)) {
    log::error("params", options_.file.string() + ": is damaged. The shared parameters start " +
                             "with the values of the plan");
    return;
  }
  const MutexLock lock(mutex_);
  (void)replica_.merge(kept, now_ns());
}

void SharedParams::Impl::take(const params::v1::SharedParams& message) {
  if (message.instance() == instance_) return;
  params::SharedReplica::Merged merged;
  ParamSet news;
  {
    const MutexLock lock(mutex_);
    merged = replica_.merge(message, now_ns());
    if (merged.changed) news = rebuild();
    if (peers_.size() >= kMaxPeers) peers_.erase(peers_.begin());
    peers_.insert_or_assign(message.instance(),
                            Peer{message.process(), params::SharedReplica::digest(message)});
    arrived_.notify_all();
  }
  std::uint64_t more = 0;
  if (merged.refusals > 0 && bad_log_.allow(more)) {
    log::warn("params", std::to_string(merged.refusals) + " shared parameters of " +
                            in_process(message.process()) + " are refused. The first: " +
                            merged.refused + " (and " + std::to_string(more) + " messages before)");
  }
  if (merged.changed) changed(news, merged.set_changed);
}

ParamWatch SharedParams::Impl::watch(
    const std::string& path, std::function<void(const std::vector<std::string>&)> callback) {
  return ParamWatch(watchers_.add("", [path, callback = std::move(callback)](const ParamSet& news) {
    std::vector<std::string> below;
    for (const std::string& one : news.changed()) {
      if (is_at_or_below(one, path)) below.push_back(one);
    }
    if (!below.empty()) callback(below);
  }));
}

std::size_t SharedParams::Impl::equal_peers(std::uint64_t digest) const {
  return static_cast<std::size_t>(std::count_if(
      peers_.begin(), peers_.end(), [&](const auto& one) { return one.second.digest == digest; }));
}

std::size_t SharedParams::Impl::others() const {
  const std::uint32_t all = subscriber_ ? subscriber_->publishers() : 0;
  return all > 0 ? all - 1 : 0;  // without our own
}

Result<void> SharedParams::Impl::wait(Duration timeout) {
  UniqueLock lock(mutex_);
  const std::chrono::steady_clock::time_point deadline(
      std::chrono::nanoseconds((monotonic_now() + timeout).ns));
  const auto come = [this]() HYPHOS_REQUIRES(mutex_) { return closed_ || !peers_.empty(); };
  if (arrived_.wait_until(lock, deadline, come) && !closed_) return success();
  return Error{closed_ ? Code::disconnected : Code::timeout,
               "no other process has sent shared parameters", "shared parameters"};
}

Result<std::size_t> SharedParams::Impl::settle(Duration timeout) {
  if (auto open = check_open(); !open) return open.error();
  announce();
  params::v1::SharedParams mine;
  UniqueLock lock(mutex_);
  const std::chrono::steady_clock::time_point deadline(
      std::chrono::nanoseconds((monotonic_now() + timeout).ns));
  std::size_t equal = 0;
  const auto settled = [&]() HYPHOS_REQUIRES(mutex_) {
    mine.Clear();
    replica_.encode_set(mine);
    equal = equal_peers(params::SharedReplica::digest(mine));
    return closed_ || equal >= others();
  };
  bool done = settled();
  // In slices, because the end of another process causes no notification.
  constexpr std::chrono::milliseconds kSlice{50};
  while (!done && std::chrono::steady_clock::now() < deadline) {
    const auto until = std::min(deadline, std::chrono::steady_clock::now() + kSlice);
    done = arrived_.wait_until(lock, until, settled);
  }
  if (done && !closed_) return equal;
  if (closed_) return Error{Code::disconnected, "the process is shutting down", ""};
  std::string late;
  for (const auto& [instance, peer] : peers_) {
    if (peer.digest != params::SharedReplica::digest(mine)) {
      late += (late.empty() ? "" : ", ") + in_process(peer.process);
    }
  }
  return Error{Code::timeout,
               "not all processes have confirmed the shared parameters: " +
                   (late.empty() ? "one that has sent none yet" : late),
               "shared parameters"};
}

Error SharedParams::Impl::unknown(const std::string& path) const {
  const auto now = tree();
  const std::vector<plan::Leaf> leaves = plan::leaves_at("", *now);
  if (leaves.empty()) {
    return {Code::not_found,
            "there is no shared parameter '" + path + "', because the tree is empty. Give " +
                "shared_params: in the plan, or hyphos param load --shared FILE",
            ""};
  }
  std::vector<std::string_view> names;
  for (const plan::Leaf& leaf : leaves) names.push_back(leaf.first);
  return {Code::not_found,
          "there is no shared parameter '" + path + "'" +
              config::suggestion(config::Problems(), path, "shared parameters", names),
          ""};
}

SharedParams Node::shared_params() const {
  impl_->check_open().or_throw();
  return SharedParams(impl_->runtime().shared_params().or_throw());
}

std::shared_ptr<const ParamValue> SharedParams::tree() const { return impl_->tree(); }
Error SharedParams::unknown(const std::string& path) const { return impl_->unknown(path); }
Result<void> SharedParams::set(
    const std::vector<std::pair<std::string, ParamValue>>& values) const {
  return impl_->set(values);
}
Result<void> SharedParams::remove(const std::string& path) const { return impl_->remove(path); }
ParamWatch SharedParams::watch(
    const std::string& path, std::function<void(const std::vector<std::string>&)> callback) const {
  return impl_->watch(path, std::move(callback));
}
Result<void> SharedParams::wait(Duration timeout) const { return impl_->wait(timeout); }
Result<std::size_t> SharedParams::settle(Duration timeout) const { return impl_->settle(timeout); }

Result<void> SharedParams::load(const std::string& file) const {
  auto tree = read_tree(file);
  if (!tree) return tree.error();
  return impl_->plan(*tree);
}

Error detail::not_in_tree(const ParamValue& value, const char* wanted) {
  const bool is_scalar = value.kind == ParamValue::Kind::scalar;
  return {Code::invalid_config,
          std::string("expected ") + wanted + ", found " +
              (is_scalar ? "'" + value.text + "'" : plan::flow_yaml(value).substr(0, 80)),
          value.source.to_string()};
}

Result<ParamValue> read_tree(const std::string& file) {
  auto text = config::read_file(file);
  if (!text) return text.error();
  auto tree = plan::parse_value(*text, file);
  if (!tree) return tree;
  if (tree->kind == ParamValue::Kind::null) tree->kind = ParamValue::Kind::map;
  if (tree->kind == ParamValue::Kind::map) return tree;
  return Error{Code::invalid_config, "expected a map of parameters", file};
}

Result<ParamValue> parse_tree(std::string_view yaml, const std::string& name) {
  return plan::parse_value(yaml, name);
}

}  // namespace hyphos
