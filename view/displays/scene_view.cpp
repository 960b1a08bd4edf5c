#include "view/displays/scene_view.hpp"

#include <algorithm>
#include <limits>

#include "view/core/names.hpp"
#include "view/core/words.hpp"

namespace hyphos::view {
namespace {

// Dropping stops here, so that the next message does not drop again and draw everything again.
constexpr double kBudgetLeft = 0.95;
constexpr double kPickPixels = 6;  // radius

}  // namespace

SceneView::SceneView(Store& store, std::size_t budget_bytes) : budget_(budget_bytes) {
  set_parts(std::vector<Part>(1), [&store](std::size_t) -> Store& { return store; });
}

SceneView::~SceneView() = default;

void SceneView::set_parts(const std::vector<Part>& parts,
                          const std::function<Store&(std::size_t)>& store) {
  std::vector<std::unique_ptr<PartOfView>> before = std::exchange(parts_, {});  // until all moved
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto made = std::make_unique<PartOfView>();
    made->label = parts[i].label;
    made->surroundings.store = &store(i);
    made->surroundings.frames = &made->frames;
    made->surroundings.budget_bytes = budget_;
    parts_.push_back(std::move(made));
  }
  // Things of a display are in the store of its part, so it begins again.
  for (Item& item : items_) {
    const auto old = std::exchange(item.display, item.kind->make());
    for (const Property& property : old->properties().all()) {
      (void)item.display->properties().set_text(property.name, property.text());
    }
    start(item);
    item.display->set_visible(old->visible());
  }
  channels_.clear();
  routes_.clear();
  routes_stale_ = true;
  reseek_ = reseek_ || !items_.empty();
  ++revision_;
}

std::vector<std::string> SceneView::labels() const {
  std::vector<std::string> all;
  for (std::size_t i = 1; i < parts_.size(); ++i) all.push_back(parts_[i]->label);
  return all;
}

void SceneView::set_arrange(Arrange arrange) {
  if (arrange == arrange_) return;
  arrange_ = arrange;
  ++revision_;
}

void SceneView::set_ghosts(std::vector<Ghost> by_part) {
  if (by_part == ghosts_) return;
  ghosts_ = std::move(by_part);
  ++revision_;
}

std::size_t SceneView::part_of(std::string_view channel) const {
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    if (is_of_part(parts_[i]->label, channel)) return i;
  }
  return 0;
}

void SceneView::start(Item& item) {
  item.display->set_surroundings(&parts_[part_of(item.channel)]->surroundings);
  item.display->settings_changed();
}

/// A ground without a channel is in all panes.
bool SceneView::is_in_pane(const Item& item, std::size_t pane) const {
  return panes() == 1 || item.channel.empty() || part_of(item.channel) == pane;
}

Result<SceneView::Item*> SceneView::add(std::string_view kind, std::string channel) {
  const DisplayKind* const found = find_display_kind(kind);
  if (found == nullptr) {
    std::vector<std::string> names;
    for (const DisplayKind& each : display_kinds()) names.emplace_back(each.name);
    return Error{Code::not_found,
                 "there is no display '" + std::string(kind) + "'" + propose(kind, names), ""};
  }
  Item& item = items_.emplace_back();
  item.id = next_id_++;
  item.kind = found;
  item.channel = std::move(channel);
  item.display = found->make();
  start(item);
  routes_stale_ = true;
  reseek_ = reseek_ || !item.channel.empty();
  ++revision_;
  return &item;
}

void SceneView::remove(std::uint32_t id) {
  std::erase_if(items_, [&](const Item& each) { return each.id == id; });
  routes_stale_ = true;
  ++revision_;
}

void SceneView::remove_all() {
  items_.clear();
  routes_stale_ = true;
  ++revision_;
}

SceneView::Item* SceneView::find(std::uint32_t id) {
  const auto found = std::ranges::find(items_, id, &Item::id);
  return found == items_.end() ? nullptr : &*found;
}

Result<void> SceneView::set(Item& item, std::string_view property, std::string_view text) {
  if (auto good = item.display->properties().set_text(property, text); !good) return good;
  settings_changed(item);
  return success();
}

void SceneView::settings_changed(Item& item) {
  if (item.display->settings_changed()) reseek_ = true;
  routes_stale_ = true;  // a companion may have another channel
  ++revision_;
}

void SceneView::set_visible(Item& item, bool visible) {
  if (item.display->visible() == visible) return;
  item.display->set_visible(visible);
  ++revision_;
}

std::string SceneView::companion_channel(const Item& item, const Companion& companion) const {
  const Property* const property = item.display->properties().find(companion.property);
  if (property != nullptr && !property->text().empty()) return property->text();
  // The neighbour: "camera/image" has "camera/camera_info", "scan" has "joint_states". Each part
  // has its own.
  const std::size_t slash = item.channel.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : item.channel.substr(0, slash + 1);
  std::string beside = folder + std::string(companion.property);
  const auto named = [&](const Channel& each) { return each.name == beside; };
  if (std::ranges::any_of(channels_, named)) return beside;
  return part_channel(parts_[part_of(item.channel)]->label, companion.property);
}

std::set<std::string> SceneView::channels() const {
  std::set<std::string> names;
  for (const Item& each : items_) {
    if (each.channel.empty()) continue;
    names.insert(each.channel);
    for (const Companion& companion : each.kind->companions) {
      names.insert(companion_channel(each, companion));
    }
  }
  for (const Channel& each : channels_) {
    if (has_transforms(each)) names.insert(each.name);
  }
  return names;
}

void SceneView::add_history(Lookback& history, std::int64_t least_ns, std::int64_t most_ns) const {
  std::int64_t longest = least_ns;
  for (const Item& each : items_) {
    if (each.channel.empty()) continue;
    const std::int64_t past = std::clamp(each.display->history_ns(), least_ns, most_ns);
    longest = std::max(longest, past);
    history.need(each.channel, past);
    for (const Companion& companion : each.kind->companions) {
      history.need(companion_channel(each, companion), past);
    }
  }
  // The oldest message of a display needs transforms before it.
  constexpr std::int64_t kBefore = 1'000'000'000;
  for (const Channel& each : channels_) {
    if (has_transforms(each)) history.need(each.name, longest + kBefore);
  }
}

bool SceneView::take_reseek() { return std::exchange(reseek_, false); }

void SceneView::set_channels(std::span<const Channel> channels) {
  if (channels.size() == channels_.size()) return;  // sources only add channels
  channels_.assign(channels.begin(), channels.end());
  routes_stale_ = true;
}

void SceneView::rebuild_routes() {
  routes_stale_ = false;
  routes_.assign(channels_.size(), {});
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    routes_[i].channel = channels_[i];
    routes_[i].frames = has_transforms(channels_[i]);
    for (std::size_t at = 0; at < items_.size(); ++at) {
      const Item& item = items_[at];
      if (item.channel.empty()) continue;
      if (item.channel == channels_[i].name) {
        item.display->set_channel(channels_[i]);
        routes_[i].displays.push_back(at);
      }
      for (const Companion& companion : item.kind->companions) {
        if (companion_channel(item, companion) == channels_[i].name) {
          routes_[i].companions.emplace_back(at, companion.role);
        }
      }
    }
  }
}

void SceneView::take(const Sample& sample) {
  if (routes_stale_) rebuild_routes();
  if (sample.channel >= routes_.size()) return;
  const Route& route = routes_[sample.channel];
  PartOfView& part = *parts_[std::min<std::size_t>(route.channel.part, parts_.size() - 1)];
  part.surroundings.now_ns = std::max(part.surroundings.now_ns, sample.time_ns);
  if (route.frames) {
    part.frames.take(route.channel, sample);
    choose_fixed_frame();
  }
  for (const std::size_t at : route.displays) {
    const Item& item = items_[at];
    if (!route.channel.type.empty() && !item.kind->types.empty() &&
        !item.kind->shows(route.channel.type)) {
      item.display->refuse_type(route.channel.type);
      continue;
    }
    item.display->take(sample);
  }
  for (const auto& [at, role] : route.companions) {
    items_[at].display->take_companion(role, sample);
  }
  if (!route.displays.empty() || !route.companions.empty()) ++revision_;
  keep_budget();
}

void SceneView::clear() {
  for (const Item& each : items_) each.display->clear();
  for (const auto& part : parts_) {
    part->frames.clear();
    part->surroundings.assumed.clear();
    part->surroundings.now_ns = 0;
  }
  budget_notice_.clear();
  dropped_ = 0;
  ++revision_;
}

void SceneView::update(std::int64_t now_ns, bool playing) {
  for (const auto& part : parts_) {
    if (now_ns != 0) part->surroundings.now_ns = now_ns;
    part->surroundings.playing = playing;
  }
  choose_fixed_frame();
  for (const Item& each : items_) {
    if (each.display->update()) ++revision_;
  }
  follow();
}

void SceneView::set_fixed_frame(std::string frame) {
  wanted_fixed_frame_ = std::move(frame);
  choose_fixed_frame();
}

void SceneView::choose_fixed_frame() {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    PartOfView& part = *parts_[i];
    std::string frame = wanted_fixed_frame_.empty() ? part.frames.root() : wanted_fixed_frame_;
    if (frame == part.surroundings.fixed_frame) continue;
    const std::string before = std::exchange(part.surroundings.fixed_frame, std::move(frame));
    for (const Item& each : items_) {
      if (part_of(each.channel) == i) each.display->fixed_frame_changed(before);
    }
    ++revision_;
  }
}

namespace {

/// Lets a camera follow its frame.
void follow_frame(Camera& camera, const Frames& frames, const std::string& fixed_frame) {
  const std::string& frame = camera.state().follow;
  if (frame.empty()) return;
  if (frame == fixed_frame) return camera.set_follow_pose(Pose::Identity());
  const auto found = frames.get(fixed_frame, frame, latest);
  if (found) camera.set_follow_pose(to_eigen(*found));
}

}  // namespace

void SceneView::follow() { follow_frame(camera_, frames(), fixed_frame()); }

bool SceneView::changed() const {
  return revision_ != drawn_revision_ || camera_.revision() != drawn_camera_;
}

void SceneView::draw(Renderer& renderer, const std::function<void(Painter&)>& extra) {
  std::vector<Camera> cameras(panes(), camera_);
  for (std::size_t i = 1; i < cameras.size(); ++i) {
    follow_frame(cameras[i], parts_[i]->frames, parts_[i]->surroundings.fixed_frame);
  }
  const bool ghosts = arrange_ == Arrange::ghost && parts_.size() > 1;
  renderer.set_ghosts(ghosts ? std::span<const Ghost>(ghosts_) : std::span<const Ghost>());
  renderer.draw(cameras, [&](Painter& painter, std::size_t pane) {
    for (const Item& each : items_) {
      if (!each.display->visible() || !is_in_pane(each, pane)) continue;
      const std::size_t part = part_of(each.channel);
      if (ghosts && part < ghosts_.size() && !ghosts_[part].is_none()) {
        GhostPainter ghost(painter, ghosts_[part]);
        each.display->paint(ghost);
      } else {
        each.display->paint(painter);
      }
    }
    if (extra) extra(painter);
  });
  drawn_revision_ = revision_;
  drawn_camera_ = camera_.revision();
}

std::optional<SceneView::Hit> SceneView::pick(double x, double y) {
  const double width = camera_.width();
  const std::size_t pane =
      std::min(static_cast<std::size_t>(std::max(x, 0.0) / width), panes() - 1);
  const Ray ray = camera_.ray(x - static_cast<double>(pane) * width, y);
  // An angle: the size of some pixels at 1 m, or from above at the height of the target.
  const Vec3 ahead = ray.from + ray.direction;
  const double away =
      camera_.orthographic() ? (camera_.target() - ray.from).dot(ray.direction) : 1.0;
  const double radius = kPickPixels * camera_.pixel_size(ahead) / std::max(away, 1e-3);
  std::optional<Hit> best;
  for (const Item& each : items_) {
    if (!each.display->visible() || !is_in_pane(each, pane)) continue;
    auto picked = each.display->pick(ray, radius);
    if (picked && (!best || picked->distance < best->picked.distance)) {
      best = Hit{each.id, std::move(*picked)};
    }
  }
  return best;
}

Bounds SceneView::bounds() const {
  Bounds all;
  for (const Item& each : items_) {
    if (each.display->visible()) all.add(each.display->bounds());
  }
  return all;
}

void SceneView::look_at_all() { camera_.look_at(bounds()); }

void SceneView::set_budget(std::size_t bytes) {
  budget_ = bytes;
  for (const auto& part : parts_) part->surroundings.budget_bytes = bytes;
  keep_budget();
}

std::size_t SceneView::bytes() const {
  std::size_t sum = 0;
  for (const Item& each : items_) sum += each.display->bytes();
  return sum;
}

void SceneView::keep_budget() {
  std::size_t used = bytes();
  if (used <= budget_) return;
  const auto enough = static_cast<std::size_t>(static_cast<double>(budget_) * kBudgetLeft);
  while (used > enough) {
    const auto oldest = std::ranges::min_element(
        items_, {}, [](const Item& each) { return each.display->oldest_ns(); });
    if (oldest == items_.end() ||
        oldest->display->oldest_ns() == std::numeric_limits<std::int64_t>::max()) {
      break;
    }
    oldest->display->drop_oldest();
    oldest->display->count_drop();
    ++dropped_;
    used = bytes();
    ++revision_;
  }
  if (dropped_ > 0) {
    budget_notice_ = grouped(dropped_) + " messages were removed from the view, as it may use " +
                     grouped(budget_ >> 20U) + " MB";
  }
}

}  // namespace hyphos::view
