#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/frames.hpp"
#include "view/core/source.hpp"
#include "view/displays/display.hpp"
#include "view/displays/registry.hpp"
#include "view/scene/camera.hpp"
#include "view/scene/ghost.hpp"
#include "view/scene/renderer.hpp"

namespace hyphos::view {

/// The 3-D view: displays, frames and camera. Without a window, and without OpenGL of its own.
///
///     source.select(view.channels());      whenever displays changed
///     source.advance(now, view);           take() for each sample
///     view.update(now);
///     if (view.changed() || renderer.refining()) view.draw(renderer);
///
/// For one thread. Displays keep their objects in the store that is given here.
class SceneView final : public Sink {
 public:
  /// A display and its place in the layout.
  struct Item {
    std::uint32_t id = 0;  ///< never reused
    const DisplayKind* kind = nullptr;
    std::string channel;  ///< empty for displays without one
    std::unique_ptr<Display> display;
  };
  using Items = std::vector<Item>;

  explicit SceneView(Store& store, std::size_t budget_bytes = std::size_t{512} << 20U);
  ~SceneView() override;

  // Several sources.
  /// Begins with another source, of one or more parts. Each has frames of its own. A display
  /// belongs to the part whose label its channel begins with.
  void set_parts(const std::vector<Part>& parts, const std::function<Store&(std::size_t)>& store);
  /// Of the parts beside the first.
  [[nodiscard]] std::vector<std::string> labels() const;
  void set_arrange(Arrange arrange);
  [[nodiscard]] Arrange arrange() const { return arrange_; }
  /// The look of each part in Arrange::ghost.
  void set_ghosts(std::vector<Ghost> by_part);
  /// Number of panes of the picture: 1, or one for each part in Arrange::columns. The size of the
  /// camera is that of a pane.
  [[nodiscard]] std::size_t panes() const {
    return arrange_ == Arrange::columns ? parts_.size() : 1;
  }

  // Displays.
  /// not_found with the nearest name of a kind.
  Result<Item*> add(std::string_view kind, std::string channel);
  void remove(std::uint32_t id);
  void remove_all();
  [[nodiscard]] Items& items() { return items_; }
  [[nodiscard]] const Items& items() const { return items_; }
  [[nodiscard]] Item* find(std::uint32_t id);
  /// Sets one property by its text form, and applies it.
  Result<void> set(Item& item, std::string_view property, std::string_view text);
  /// After properties were changed directly, e.g. by an editor.
  void settings_changed(Item& item);
  void set_visible(Item& item, bool visible);
  /// The channels that displays and frames need.
  [[nodiscard]] std::set<std::string> channels() const;
  /// Adds the pasts that displays show, at least `least_ns` and at most `most_ns`.
  void add_history(Lookback& history, std::int64_t least_ns, std::int64_t most_ns) const;
  /// True once after a change that needs earlier samples again: seek to the cursor.
  [[nodiscard]] bool take_reseek();

  // Samples.
  /// The channels of the source, which must be known before their samples.
  void set_channels(std::span<const Channel> channels);
  void take(const Sample& sample) override;
  void clear() override;
  /// The cursor of the timeline, and whether it moves.
  void update(std::int64_t now_ns, bool playing = true);

  // Frames.
  /// Of the first part.
  [[nodiscard]] const Frames& frames() const { return parts_.front()->frames; }
  /// Empty: Frames::root().
  void set_fixed_frame(std::string frame);
  [[nodiscard]] const std::string& wanted_fixed_frame() const { return wanted_fixed_frame_; }
  [[nodiscard]] const std::string& fixed_frame() const {
    return parts_.front()->surroundings.fixed_frame;
  }

  // The picture.
  [[nodiscard]] Camera& camera() { return camera_; }
  [[nodiscard]] const Camera& camera() const { return camera_; }
  /// True if draw() would give another picture than the last one.
  [[nodiscard]] bool changed() const;
  /// Something outside has changed: an overlay, the size.
  void invalidate() { ++revision_; }
  /// Draws the displays, then `extra` (tools).
  void draw(Renderer& renderer, const std::function<void(Painter&)>& extra = {});
  /// The nearest thing on the ray of a pixel of the picture, over all panes.
  struct Hit {
    std::uint32_t item = 0;
    Display::Picked picked;
  };
  [[nodiscard]] std::optional<Hit> pick(double x, double y);
  [[nodiscard]] Bounds bounds() const;
  /// Frames everything that is displayed.
  void look_at_all();

  // Memory.
  void set_budget(std::size_t bytes);
  [[nodiscard]] std::size_t budget() const { return budget_; }
  [[nodiscard]] std::size_t bytes() const;
  /// Empty, or the sentence about data that was dropped for the budget.
  [[nodiscard]] const std::string& budget_notice() const { return budget_notice_; }
  /// Messages that were dropped for the budget since clear().
  [[nodiscard]] std::uint64_t removed() const { return dropped_; }

 private:
  struct Route {
    Channel channel;
    bool frames = false;                                               // transforms
    std::vector<std::size_t> displays;                                 // indices of items_
    std::vector<std::pair<std::size_t, std::string_view>> companions;  // index, role
  };

  /// A source of its own: nothing of it depends on another one.
  struct PartOfView {
    std::string label;
    Frames frames;
    Surroundings surroundings;
  };

  [[nodiscard]] std::size_t part_of(std::string_view channel) const;
  void start(Item& item);
  [[nodiscard]] bool is_in_pane(const Item& item, std::size_t pane) const;
  void rebuild_routes();
  void keep_budget();
  void choose_fixed_frame();
  void follow();
  [[nodiscard]] std::string companion_channel(const Item& item, const Companion& companion) const;

  std::vector<std::unique_ptr<PartOfView>> parts_;  // at least one
  Arrange arrange_ = Arrange::ghost;
  std::vector<Ghost> ghosts_;
  std::string wanted_fixed_frame_;
  Items items_;
  std::uint32_t next_id_ = 1;
  std::vector<Channel> channels_;
  std::vector<Route> routes_;  // by channel id
  bool routes_stale_ = true;
  bool reseek_ = false;
  Camera camera_;
  std::size_t budget_;
  std::string budget_notice_;
  std::uint64_t dropped_ = 0;
  std::uint64_t revision_ = 1;  // of anything that the picture depends on
  std::uint64_t drawn_revision_ = 0;
  std::uint64_t drawn_camera_ = 0;
  std::uint64_t drawn_frames_ = 0;
};

}  // namespace hyphos::view
