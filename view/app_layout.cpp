#include <algorithm>
#include <cmath>

#include "view/app_impl.hpp"
#include "view/panels/widgets.hpp"
#include "view/sources/open.hpp"

namespace hyphos::view {
namespace {

/// Short numbers in layouts.
double short_number(double value) { return std::round(value * 1e4) / 1e4; }

double turn_to_pi(double angle) { return short_number(std::remainder(angle, 2 * M_PI)); }

CameraLayout describe(const CameraState& state) {
  CameraLayout made;
  made.kind = to_string(state.mode);
  made.follow = state.follow;
  made.follow_heading = state.follow_heading;
  made.target = {short_number(state.target.x()), short_number(state.target.y()),
                 short_number(state.target.z())};
  made.distance = std::max(short_number(state.distance), 0.001);
  made.yaw = turn_to_pi(state.yaw);
  made.pitch = turn_to_pi(state.pitch);
  made.roll = turn_to_pi(state.roll);
  return made;
}

}  // namespace

void App::Impl::use_camera(const CameraLayout& camera) {
  CameraState state = scene_->camera().state();
  if (const auto mode = parse_camera_mode(camera.kind)) state.mode = *mode;
  state.follow = camera.follow;
  state.follow_heading = camera.follow_heading;
  state.target = {camera.target[0], camera.target[1], camera.target[2]};
  state.distance = camera.distance;
  state.yaw = camera.yaw;
  state.pitch = camera.pitch;
  state.roll = camera.roll;
  scene_->camera().set_state(state);
}

void App::Impl::use_view(const std::string& name) {
  const auto found = views_.find(name);
  if (found == views_.end()) return;
  use_camera(found->second);
  more_frames_ = std::max(more_frames_, 2);
}

void App::Impl::save_view(const std::string& name) {
  views_[name] = describe(scene_->camera().state());
  edited("save a view");
}

Layout App::Impl::layout() const {
  Layout made;
  made.theme = theme_name_;
  made.budget_mb = budget_mb_;
  made.fixed_frame = scene_->wanted_fixed_frame();
  made.compare = compare_;
  made.camera = describe(scene_->camera().state());
  made.views = views_;
  for (const SceneView::Item& item : scene_->items()) {
    DisplayLayout display;
    display.kind = item.kind->name;
    display.channel = item.channel;
    display.visible = item.display->visible();
    for (const Property& property : item.display->properties().all()) {
      if (!property.is_default()) display.settings.emplace(property.name, property.text());
    }
    made.displays.push_back(std::move(display));
  }
  made.panels = workspace_.get();
  return made;
}

void App::Impl::apply_displays(const std::vector<DisplayLayout>& wanted) {
  std::set<std::uint32_t> kept;
  for (const DisplayLayout& one : wanted) {
    SceneView::Item* item = nullptr;
    for (SceneView::Item& old : scene_->items()) {
      if (old.kind->name == one.kind && old.channel == one.channel && kept.count(old.id) == 0) {
        item = &old;
        break;
      }
    }
    if (item == nullptr) {
      auto made = scene_->add(one.kind, one.channel);
      if (!made) {
        notify(made.error().message, true);
        continue;
      }
      item = *made;
    }
    kept.insert(item->id);
    const std::uint32_t id = item->id;
    std::vector<std::pair<std::string, std::string>> changes;
    for (const Property& property : item->display->properties().all()) {
      const auto setting = one.settings.find(property.name);
      if (setting != one.settings.end()) {
        if (property.text() != setting->second.word()) {
          changes.emplace_back(property.name, setting->second.word());
        }
      } else if (!property.is_default()) {
        changes.emplace_back(property.name, "");
      }
    }
    for (const auto& [name, text] : changes) {
      SceneView::Item& target = *scene_->find(id);
      if (one.settings.count(name) == 0) {
        Property* property = target.display->properties().find(name);
        (void)property->set(property->fallback());
        scene_->settings_changed(target);
      } else if (const auto set = scene_->set(target, name, text); !set) {
        const std::string& where = one.settings.find(name)->second.where;
        notify((where.empty() ? "" : where + ": ") + set.error().message, true);
      }
    }
    SceneView::Item& target = *scene_->find(id);
    if (target.display->visible() != one.visible) scene_->set_visible(target, one.visible);
  }
  std::vector<std::uint32_t> gone;
  for (const SceneView::Item& item : scene_->items()) {
    if (kept.count(item.id) == 0) gone.push_back(item.id);
  }
  for (const std::uint32_t id : gone) scene_->remove(id);
}

void App::Impl::set_layout(const Layout& layout) {
  if (layout.theme != theme_name_) set_theme(layout.theme);
  budget_mb_ = options_.budget_mb > 0 ? options_.budget_mb : layout.budget_mb;
  scene_->set_fixed_frame(layout.fixed_frame);
  set_compare(layout.compare);
  views_ = layout.views;
  use_camera(layout.camera);
  apply_displays(layout.displays);
  workspace_.set(layout.panels);
  share_budget();
  reselect_ = true;
  more_frames_ = std::max(more_frames_, 2);
}

void App::Impl::share_budget() {
  std::size_t panels = 0;
  workspace_.for_each([&panels](Panel& panel) { panels += panel.memory(); });
  const auto bytes = static_cast<std::size_t>(budget_mb_ * 1e6);
  // The past of a robot takes memory all the time. The chunks of a recording save time.
  const std::size_t source = bytes / (timeline_.live ? 32 : 8);
  source_->limit_memory(source);
  const std::size_t most = bytes - source;
  while (panels > most / 2) {
    Panel* largest = nullptr;
    workspace_.for_each([&largest](Panel& panel) {
      if (largest == nullptr || panel.memory() > largest->memory()) largest = &panel;
    });
    const std::size_t before = largest->memory();
    if (!largest->drop_oldest()) break;
    panels -= before - largest->memory();
    notify("The oldest data of panels was removed, as all panels may use " +
               bytes_text(static_cast<double>(most) / 2),
           false);
  }
  scene_->set_budget(most - std::min(panels, most / 2));
}

void App::Impl::set_compare(const CompareLayout& compare) {
  const bool realign = compare.align != compare_.align;
  const bool moved = realign || compare.shift_s != compare_.shift_s;
  compare_ = compare;
  scene_->set_arrange(compare.arrange == "columns" ? Arrange::columns : Arrange::ghost);
  std::vector<Ghost> ghosts(kMaxParts);
  for (std::size_t i = 1; i < ghosts.size(); ++i) {
    ghosts[i] = {part_color(i), compare.tint, compare.alpha};
  }
  scene_->set_ghosts(std::move(ghosts));
  more_frames_ = std::max(more_frames_, 2);
  if (!moved) return;
  if (realign) return align_parts();
  for (std::size_t i = 1; i < aligned_.size(); ++i) set_shift(i, shift_s(i));
}

void App::Impl::align_parts() {
  const std::vector<Part> parts = source_->parts();
  const Alignment align = compare_.align == "time" ? Alignment::time : Alignment::start;
  aligned_.assign(parts.size(), 0);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    aligned_[i] = aligned_offset(parts, i, align, 0);
    set_shift(i, shift_s(i));
  }
}

double App::Impl::shift_s(std::size_t part) const {
  return part >= 1 && part <= compare_.shift_s.size() ? compare_.shift_s[part - 1] : 0;
}

void App::Impl::set_shift(std::size_t part, double seconds) {
  if (part == 0 || part >= aligned_.size()) return;
  if (compare_.shift_s.size() < part && seconds != 0) compare_.shift_s.resize(part);
  if (part <= compare_.shift_s.size()) compare_.shift_s[part - 1] = seconds;
  source_->set_offset(part, aligned_[part] + static_cast<std::int64_t>(seconds * 1e9));
  timeline_.range = source_->range();
  reseek_ = true;
  more_frames_ = std::max(more_frames_, 2);
}

void App::Impl::set_theme(const std::string& name) {
  theme_name_ = name;
  theme_ = make_theme(name, options_.scale, fonts_);
  apply_theme(theme_);
  RendererOptions options = renderer_->options();
  options.background = theme_.dark ? Color{21, 24, 29, 255} : Color{242, 244, 247, 255};
  renderer_->set_options(options);
  scene_->invalidate();
  more_frames_ = std::max(more_frames_, 2);
}

void App::Impl::edited(std::string_view action) {
  pending_edit_ = action;
  automatic_ = false;
  panel_changed_ = true;
}

void App::Impl::undo() {
  if (!history_.can_undo()) return notify("nothing to undo", false);
  const std::string name = history_.undo_name();
  Layout to = history_.undo();
  to.camera = describe(scene_->camera().state());
  set_layout(to);
  notify("undone: " + name, false);
}

void App::Impl::redo() {
  if (!history_.can_redo()) return notify("nothing to redo", false);
  const std::string name = history_.redo_name();
  Layout to = history_.redo();
  to.camera = describe(scene_->camera().state());
  set_layout(to);
  notify("done again: " + name, false);
}

void App::Impl::save_layout_file(const std::string& path) {
  if (const auto saved = save_layout(path, layout()); !saved) {
    return notify(saved.error().to_string(), true);
  }
  layout_file_ = path;
  notify("saved " + path, false);
}

void App::Impl::open_panel(std::string_view kind, const Settings& settings) {
  workspace_.open(*this, kind, settings);
}

bool App::Impl::show(const std::string& channel_name) {
  const Channel* found = channel(channel_name);
  const DisplayKind* kind =
      found == nullptr ? nullptr : display_kind_for(found->type, channel_name);
  if (kind == nullptr) return false;
  for (SceneView::Item& item : scene_->items()) {
    if (item.channel == channel_name && item.kind == kind) {
      scene_->set_visible(item, true);
      reselect();
      return true;
    }
  }
  if (!scene_->add(kind->name, channel_name)) return false;
  reselect();
  edited("add a display");
  return true;
}

}  // namespace hyphos::view
