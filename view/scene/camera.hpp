#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "view/scene/math.hpp"

namespace hyphos::view {

enum class CameraMode : std::uint8_t {
  orbit,         ///< turns about the target, as in RViz
  first_person,  ///< turns about the eye, W A S D moves
  top_down,      ///< orthographic from above, north is up until it is turned
  anchor,        ///< HyperGraph ROS, section IV-B: press, wheel and keys act about an anchor
};
[[nodiscard]] std::string_view to_string(CameraMode mode);
[[nodiscard]] std::optional<CameraMode> parse_camera_mode(std::string_view text);

/// A view that can be saved and restored. Angles in rad.
struct CameraState {
  CameraMode mode = CameraMode::orbit;
  /// The point in the middle of the view, m, in the fixed frame, or relative to `follow`. The
  /// anchor in mode `anchor`.
  Vec3 target{0, 0, 0};
  double distance = 12;         ///< m, from the eye to the target. top_down: the visible height
  double yaw = 0.8;             ///< direction from the target to the eye, about z
  double pitch = 0.6;           ///< above the xy plane. top_down ignores it
  double roll = 0;              ///< about the direction of view
  double field_of_view = 0.9;   ///< vertical, rad
  std::string follow = {};      ///< the frame that the target moves with, empty: the fixed frame
  bool follow_heading = false;  ///< the view also turns with that frame's yaw

  bool operator==(const CameraState&) const = default;
};

enum class MouseButton : std::uint8_t { left, middle, right };
struct KeyModifiers {
  bool shift = false;
  bool ctrl = false;
  bool alt = false;
};

/// Keys that move a camera. Shells map them: W A S D Q E and arrows, +/-, Home.
///
/// In mode `anchor`, as in figure 7 of HyperGraph ROS: A/D yaw, W/S pitch, Q/E roll about the
/// anchor. In mode `first_person`, W/S and A/D move, Q/E sink and rise.
enum class CameraKey : std::uint8_t {
  w,
  a,
  s,
  d,
  q,
  e,
  left,
  right,
  up,
  down,
  zoom_in,
  zoom_out,
  home
};

/// A line of sight, in the fixed frame.
struct Ray {
  Vec3 from;
  Vec3 direction;  ///< of unit length
  [[nodiscard]] std::optional<Vec3> at_height(double z) const;
};

/// The eye, and its reaction to input. Pure arithmetic, without OpenGL.
///
/// The left button turns, and with shift it pans (top_down: the other way round). The other buttons
/// pan. The wheel zooms to the pointer or to the anchor.
///
/// Pixels have their origin top left of the view. Every change increments revision().
class Camera {
 public:
  [[nodiscard]] const CameraState& state() const { return state_; }
  void set_state(const CameraState& state);
  void set_mode(CameraMode mode);  ///< keeps the eye and direction where possible
  /// Frames these bounds.
  void look_at(const Bounds& bounds);

  void set_size(int width, int height);  ///< px
  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  /// The pose of the followed frame in the fixed frame. Identity without one.
  void set_follow_pose(const Pose& pose);

  /// A button goes down at a pixel. `hit`: the visible point there, if there is one
  /// (Renderer::point_at()). It becomes the anchor in mode `anchor`, and scales pans in the others.
  void press(MouseButton button, double x, double y, const std::optional<Vec3>& hit,
             KeyModifiers modifiers = {});
  /// The pointer moves while buttons are down.
  void drag(double x, double y);
  void release(MouseButton button);
  /// Zooms towards the anchor, the pixel, or the target, as the mode does. 1: one notch.
  void wheel(double notches, double x, double y, const std::optional<Vec3>& hit);
  /// `seconds`: the time for which the key is down. A press alone is 0.05.
  void key(CameraKey key, double seconds);
  /// True while a button is down.
  [[nodiscard]] bool dragging() const { return pressed_.has_value(); }
  /// The anchor to draw, in the fixed frame.
  [[nodiscard]] std::optional<Vec3> anchor() const;

  [[nodiscard]] Mat4 view() const;  ///< fixed frame → eye: x right, y up, -z into the scene
  [[nodiscard]] Mat4 projection() const;
  [[nodiscard]] Vec3 eye() const;
  [[nodiscard]] Vec3 target() const;  ///< in the fixed frame
  [[nodiscard]] bool orthographic() const { return state_.mode == CameraMode::top_down; }
  [[nodiscard]] Ray ray(double x, double y) const;
  /// The pixel of a point, and its depth in [0, 1]. Nothing if the point is behind the eye.
  [[nodiscard]] std::optional<Vec3> project(const Vec3& point) const;
  [[nodiscard]] Vec3 unproject(double x, double y, double depth) const;
  /// The length of one pixel at a point, m.
  [[nodiscard]] double pixel_size(const Vec3& at) const;
  [[nodiscard]] std::uint64_t revision() const { return revision_; }

 private:
  [[nodiscard]] Mat3 rotation() const;  // columns: right, up, back
  void turn_about(const Vec3& anchor, double yaw, double pitch, double roll);
  void pan(double dx, double dy, double depth);
  void zoom(double factor, const Vec3& towards);
  void normalize();
  [[nodiscard]] double heading() const;  // that the view turns with, rad
  // Between the fixed frame and the frame of the state's target.
  [[nodiscard]] Vec3 to_local(const Vec3& point) const;
  [[nodiscard]] Vec3 to_world(const Vec3& point) const;
  [[nodiscard]] Vec3 unproject_at(double x, double y, double distance) const;

  CameraState state_;
  std::optional<Vec3> anchor_;  // as the target
  Pose follow_ = Pose::Identity();
  int width_ = 1;
  int height_ = 1;
  std::uint64_t revision_ = 1;

  struct Pressed {
    MouseButton button = MouseButton::left;
    KeyModifiers modifiers;
    double x = 0;
    double y = 0;
    double depth_m = 0;  // of the pressed point, for pans
  };
  std::optional<Pressed> pressed_;
};

}  // namespace hyphos::view
