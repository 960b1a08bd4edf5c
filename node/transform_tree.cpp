#include "hyphos/transform.hpp"
#include "node/transform_store.hpp"

namespace hyphos {
namespace {

Transform named(std::string_view target, std::string_view source, const StampedIsometry& found) {
  return {std::string(detail::bare_frame(target)), std::string(detail::bare_frame(source)),
          found.stamp, found.translation, found.rotation};
}

}  // namespace

TransformTree::TransformTree(TransformTreeOptions options)
    : store_(std::make_shared<detail::TransformStore>(options)) {}

TransformTree::~TransformTree() = default;

Result<void> TransformTree::set(const Transform& transform, std::uint64_t sender) {
  return store_->set(transform, false, sender);
}

Result<void> TransformTree::set_static(const Transform& transform, std::uint64_t sender) {
  return store_->set(transform, true, sender);
}

Result<Transform> TransformTree::get(std::string_view target, std::string_view source,
                                     Time time) const {
  auto found = detail::TransformPath(store_, target, source).get(time.ns);
  if (!found) return found.error();
  return named(target, source, *found);
}

Result<Transform> TransformTree::get(std::string_view target, Time target_time,
                                     std::string_view source, Time source_time,
                                     std::string_view fixed_frame) const {
  auto there = detail::TransformPath(store_, fixed_frame, source).get(source_time.ns);
  if (!there) return there.error();
  auto back = detail::TransformPath(store_, target, fixed_frame).get(target_time.ns);
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
