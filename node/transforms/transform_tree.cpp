#include <array>
#include <functional>
#include <optional>

#include "base/brief_mutex.hpp"
#include "hyphos/transforms.hpp"
#include "node/transforms/transform_store.hpp"

namespace hyphos {
namespace detail {

/// A cache of the paths between frames that were recently looked up by name. Finding a path takes
/// longer than all later steps. Thread-safe. If another thread is using a path, the path is found
/// again.
class RecentPaths {
 public:
  explicit RecentPaths(std::shared_ptr<const TransformStore> store) : store_(std::move(store)) {}

  Result<StampedIsometry> get(std::string_view target, std::string_view source, Time time) {
    target = bare_frame(target);
    source = bare_frame(source);
    Slot& slot = slots_[slot_of(target, source)];
    BriefLock lock(slot.mutex, std::defer_lock);
    if (!lock.try_lock()) return TransformPath(store_, target, source).get(time.ns);
    std::optional<TransformPath>& path = slot.path;
    if (!path || path->target() != target || path->source() != source) {
      path.emplace(store_, target, source);
    }
    return path->get(time.ns);
  }

 private:
  struct Slot {
    BriefMutex mutex;
    std::optional<TransformPath> path HYPHOS_GUARDED_BY(mutex);
  };
  static constexpr std::size_t kSlots = 32;

  static std::size_t slot_of(std::string_view target, std::string_view source) {
    const std::hash<std::string_view> hash;
    return (hash(target) * 31 + hash(source)) % kSlots;
  }

  const std::shared_ptr<const TransformStore> store_;
  std::array<Slot, kSlots> slots_;
};

}  // namespace detail

namespace {

Transform named(std::string_view target, std::string_view source, const StampedIsometry& found) {
  return {std::string(detail::bare_frame(target)), std::string(detail::bare_frame(source)),
          found.stamp, found.translation, found.rotation};
}

}  // namespace

TransformTree::TransformTree(TransformTreeOptions options)
    : store_(std::make_shared<detail::TransformStore>(options)),
      recent_(std::make_unique<detail::RecentPaths>(store_)) {}

TransformTree::~TransformTree() = default;

Result<void> TransformTree::set(const Transform& transform, std::uint64_t sender) {
  return store_->set(transform, false, sender);
}

Result<void> TransformTree::set_static(const Transform& transform, std::uint64_t sender) {
  return store_->set(transform, true, sender);
}

Result<Transform> TransformTree::get(std::string_view target, std::string_view source,
                                     Time time) const {
  auto found = recent_->get(target, source, time);
  if (!found) return found.error();
  return named(target, source, *found);
}

Result<Transform> TransformTree::get(std::string_view target, Time target_time,
                                     std::string_view source, Time source_time,
                                     std::string_view fixed_frame) const {
  auto there = recent_->get(fixed_frame, source, source_time);
  if (!there) return there.error();
  auto back = recent_->get(target, fixed_frame, target_time);
  if (!back) return back.error();
  return named(target, source, {*back * *there, back->stamp});
}

TransformLookup TransformTree::lookup(std::string_view target, std::string_view source) const {
  return TransformLookup(std::make_unique<detail::TransformPath>(store_, target, source));
}

Result<TransformChain> TransformTree::chain(std::string_view target,
                                            std::string_view source) const {
  return detail::TransformPath(store_, target, source).chain();
}

std::vector<TransformEdge> TransformTree::edges() const { return store_->list(); }
TransformCounters TransformTree::counters() const { return store_->counters(); }
const TransformTreeOptions& TransformTree::options() const { return store_->options(); }
void TransformTree::clear() { store_->clear(); }

TransformLookup::TransformLookup(std::unique_ptr<detail::TransformPath> path)
    : path_(std::move(path)) {}
TransformLookup::TransformLookup(const TransformLookup& other)
    : path_(std::make_unique<detail::TransformPath>(*other.path_)) {}
TransformLookup::TransformLookup(TransformLookup&& other) noexcept = default;
TransformLookup& TransformLookup::operator=(TransformLookup other) noexcept {
  path_ = std::move(other.path_);
  return *this;
}
TransformLookup::~TransformLookup() = default;

Result<StampedIsometry> TransformLookup::get(Time time) { return path_->get(time.ns); }
const std::string& TransformLookup::target() const { return path_->target(); }
const std::string& TransformLookup::source() const { return path_->source(); }

}  // namespace hyphos
