#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tests/view/displays/fake_store.hpp"
#include "view/displays/mesh_file.hpp"
#include "view/displays/scene_view.hpp"

namespace {

using namespace hyphos::view;

constexpr std::size_t kBudget = 4 << 20;

void check(const testing::FakeStore& store) {
  for (const auto* set : store.sets) {
    for (const auto& batch : set->batches_) {
      for (const Vec3& each : batch.points) {
        if (!each.allFinite()) std::abort();
      }
    }
  }
}

void show(const DisplayKind& kind, std::string_view type, std::span<const std::byte> head,
          std::span<const std::byte> buffer) {
  testing::FakeStore store;
  SceneView view(store, kBudget);
  if (!view.add(kind.name, "channel").ok()) std::abort();
  std::vector<Channel> channels(2);
  channels[0].name = "channel";
  channels[0].type = std::string(type);
  channels[1].id = 1;
  channels[1].name = "joint_states";
  channels[1].type = "hyphos.msgs.JointState";
  view.set_channels(channels);
  hyphos::view::Sample sample;
  sample.time_ns = 1'000'000'000;
  sample.payload = hyphos::Buffer::copy_of(head);
  if (!buffer.empty()) sample.buffers.push_back(hyphos::Buffer::copy_of(buffer));
  for (int times = 0; times < 2; ++times) {
    view.take(sample);
    view.update(sample.time_ns);
    testing::FakePainter painter;
    for (const auto& each : view.items()) each.display->paint(painter);
    (void)view.bounds();
    check(store);
    sample.channel = 1 - sample.channel;
  }
  view.set_fixed_frame("elsewhere");
  view.clear();
}

}  // namespace

/// The first byte selects a kind of display and its type, the next two the length of the head. The
/// rest of the input is the attached buffer.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto kinds = display_kinds();
  const std::size_t choice = data[0];
  if (choice == 0xff) {
    (void)read_mesh(bytes.subspan(3), data[1] % 2 == 0 ? "a.stl" : "a.obj");
    return 0;
  }
  const DisplayKind& kind = kinds[choice % kinds.size()];
  if (kind.types.empty()) return 0;
  const std::string_view type = kind.types[choice / kinds.size() % kind.types.size()];
  const std::size_t length = std::min<std::size_t>(data[1] | data[2] << 8U, size - 3);
  show(kind, type, bytes.subspan(3, length), bytes.subspan(3 + length));
  return 0;
}
