#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "view/core/frames.hpp"
#include "view/core/properties.hpp"
#include "view/core/sample.hpp"
#include "view/scene/camera.hpp"
#include "view/scene/painter.hpp"
#include "view/scene/store.hpp"

namespace hyphos::view {

/// The surroundings of the displays of one view: the same for all of them.
struct Surroundings {
  Store* store = nullptr;
  const Frames* frames = nullptr;
  std::string fixed_frame;  ///< empty while no frame is known
  std::int64_t now_ns = 0;  ///< the cursor of the timeline
  Time stamp{};             ///< the newest stamp of a message, on the robot's clock
  bool playing = true;      ///< new samples arrive, so ages count
  std::size_t budget_bytes = std::size_t{512} << 20U;  ///< for all displays together
  /// Frames that were asked for while no transform was known, so that all are drawn at the origin.
  mutable std::set<std::string> assumed;
};

/// Severity of a display's state.
enum class Health : std::uint8_t { good, waiting, warning, error };

struct Status {
  Health health = Health::waiting;
  std::string text = "no message yet";  ///< one sentence
  bool operator==(const Status&) const = default;
};

/// Draws the messages of one channel, or something without a channel, into the scene.
///
/// A display is one file in this folder and one line in registry.cpp. It sees encoded samples, the
/// frames and a Store and Painter, so that it is tested without OpenGL. All functions run in the
/// thread of the view. take() may upload to the store. paint() runs in each drawn frame: it costs
/// in proportion to the visible few, and everything large is Retained, a Texture or a Mesh.
class Display {
 public:
  Display() = default;
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;
  virtual ~Display() = default;

  /// The channel whose samples take() gets. Called before the first of them.
  virtual void set_channel(const Channel& channel) { (void)channel; }
  /// A sample of the display's channel. A bad one becomes an error status, never an exception.
  virtual void take(const Sample& sample) = 0;
  /// A sample of another channel: Registration::companions, e.g. the calibration of a camera.
  virtual void take_companion(std::string_view role, const Sample& sample) {
    (void)role;
    (void)sample;
  }
  /// The samples that follow replace all earlier ones.
  virtual void clear() = 0;
  virtual void paint(Painter& painter) = 0;
  /// Called after Properties changed, and once before the first take(). Returns true if earlier
  /// samples would now look different and have to come again (Source::seek()).
  virtual bool settings_changed() { return false; }
  /// Called when the fixed frame changed, `from` to surroundings().fixed_frame.
  virtual void fixed_frame_changed(const std::string& from) { (void)from; }
  /// Called before each frame: samples that wait for their transform are tried again, and expired
  /// ones go. Returns true if the picture changed.
  virtual bool update() { return false; }

  /// The part of the past that the display shows. For Source::seek().
  [[nodiscard]] virtual std::int64_t history_ns() const { return 0; }

  /// The contents at a point of a ray, as lines "name: value" for the tool that selects.
  struct Picked {
    double distance = 0;  ///< along the ray, m
    Vec3 point;
    std::vector<std::string> lines;
  };
  virtual std::optional<Picked> pick(const Ray& ray, double radius) {
    (void)ray;
    (void)radius;
    return std::nullopt;
  }
  /// Where the display's things are, in the fixed frame. For "look at".
  [[nodiscard]] virtual Bounds bounds() const { return {}; }

  [[nodiscard]] const Status& status() const { return status_; }
  [[nodiscard]] Properties& properties() { return properties_; }
  [[nodiscard]] const Properties& properties() const { return properties_; }
  [[nodiscard]] bool visible() const { return visible_; }
  virtual void set_visible(bool visible) { visible_ = visible; }

  /// GPU and CPU memory of messages.
  [[nodiscard]] virtual std::size_t bytes() const { return 0; }
  /// The time of the oldest batch, the largest value without one.
  [[nodiscard]] virtual std::int64_t oldest_ns() const {
    return std::numeric_limits<std::int64_t>::max();
  }
  /// Removes the oldest batch, for the memory budget.
  virtual void drop_oldest() {}

  struct Counters {
    std::uint64_t taken = 0;    ///< samples
    std::uint64_t refused = 0;  ///< samples that were corrupt or inconsistent
    std::uint64_t late = 0;     ///< samples dropped because their transform did not come
    std::uint64_t dropped = 0;  ///< batches dropped for the memory budget
    std::uint64_t skipped = 0;  ///< points that were NaN or infinite
  };
  [[nodiscard]] const Counters& counters() const { return counters_; }

  /// By the owner, before settings_changed() and whenever the surroundings change.
  void set_surroundings(const Surroundings* surroundings) { surroundings_ = surroundings; }
  void count_drop() { ++counters_.dropped; }
  /// A sample of a type that the display does not show: the channel has another type now.
  void refuse_type(std::string_view type) {
    ++counters_.taken;
    refuse("the channel has the type " + std::string(type) + " now");
  }

 protected:
  [[nodiscard]] const Surroundings& surroundings() const { return *surroundings_; }
  [[nodiscard]] Store& store() const { return *surroundings_->store; }
  void report(Health health, std::string text);
  /// Counts the sample as refused and shows the reason.
  void refuse(std::string text) {
    ++counters_.refused;
    report(Health::error, std::move(text));
  }
  /// The pose of a frame in the fixed frame. On failure the status has the sentence of Frames: the
  /// frame, and the time of its last transform. An empty frame or fixed frame is the identity.
  [[nodiscard]] std::optional<Pose> pose_of(const std::string& frame, Time stamp);
  [[nodiscard]] Result<Pose> try_pose(const std::string& frame, Time stamp) const;

  Properties properties_;
  Counters counters_;

 private:
  const Surroundings* surroundings_ = nullptr;
  Status status_;
  bool visible_ = true;
};

}  // namespace hyphos::view
