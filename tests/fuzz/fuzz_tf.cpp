#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "node/transforms/tf_codec.hpp"

/// Input on `tf` is refused, or it is a list of transforms that survives a round trip. A tree
/// accepts or refuses each of them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hyphos;
  TransformTreeOptions options;
  options.max_frames = 64;
  options.max_samples = 16;
  options.clock_jump = Duration::from_ms(1);
  TransformTree tree(options);
  std::vector<Transform> all;
  const auto read = tf::read(std::as_bytes(std::span(data, size)), [&](const Transform& t) {
    all.push_back(t);
    (void)(all.size() % 5 == 0 ? tree.set_static(t) : tree.set(t));
    (void)tree.get(t.parent, all.front().child, t.stamp);
    (void)tree.get(all.front().parent, t.child);
  });
  if (!read) return 0;
  std::vector<std::byte> written(tf::size(all));
  tf::write(all, written.data());
  std::size_t i = 0;
  const auto again = tf::read(written, [&](const Transform& t) {
    if (i >= all.size() || t.parent != all[i].parent || t.child != all[i].child ||
        t.stamp != all[i].stamp) {
      std::abort();
    }
    ++i;
  });
  if (!again || i != all.size()) std::abort();
  return 0;
}
