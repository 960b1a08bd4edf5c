#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "hyphos/clock.hpp"
#include "hyphos/codec.hpp"
#include "hyphos/node.hpp"
#include "hyphos/transforms.hpp"
#include <hyphos/msgs/geometry.pb.h>
#include <hyphos/msgs/nav.pb.h>
#include <hyphos/msgs/sensor.pb.h>
#include <hyphos/msgs/std.pb.h>
#include <hyphos/msgs/visualization.pb.h>

namespace hyphos::msgs::detail {

/// A container of consecutive elements: std::vector, std::array, std::span, an Eigen matrix.
template <typename C>
concept Consecutive = requires(const C& container) {
  *container.data();
  { container.size() } -> std::convertible_to<std::size_t>;
};

/// The number in an element: float of float, of float[3], of std::array<float, 3> and of an Eigen
/// vector.
template <typename Element>
struct ScalarOf {
  using type = std::remove_extent_t<Element>;
};
template <Consecutive Element>
struct ScalarOf<Element> {
  using type = std::remove_cvref_t<decltype(*std::declval<const Element&>().data())>;
};

}  // namespace hyphos::msgs::detail

namespace hyphos {

/// Positions of any container of consecutive floats or doubles, without a copy: x, y, z of the
/// first point, then of the second. An element is a number, or an array or vector of 3 numbers:
/// std::vector<float>, std::vector<std::array<double, 3>>, Eigen::Matrix3Xf,
/// std::vector<Eigen::Vector3f>. Valid as long as the container. Lengths in m.
class ViewPositions {
 public:
  /// Throws invalid_config if the numbers are no multiple of 3.
  template <msgs::detail::Consecutive C>
  // NOLINTNEXTLINE(google-explicit-constructor): callers pass their container
  ViewPositions(const C& container) {
    using Element = std::remove_cvref_t<decltype(*container.data())>;
    using Scalar = typename msgs::detail::ScalarOf<Element>::type;
    static_assert(std::same_as<Scalar, float> || std::same_as<Scalar, double>,
                  "positions are floats or doubles");
    static_assert(std::is_same_v<Element, Scalar> || sizeof(Element) == 3 * sizeof(Scalar),
                  "an element is a number or 3 numbers");
    const std::size_t numbers =
        static_cast<std::size_t>(container.size()) * sizeof(Element) / sizeof(Scalar);
    if (numbers % 3 != 0) {
      throw Exception({Code::invalid_config,
                       "positions have 3 numbers each, found " + std::to_string(numbers) +
                           " numbers: give x, y and z of each point",
                       {}});
    }
    data_ = container.data();
    size_ = numbers / 3;
    is_float_ = std::same_as<Scalar, float>;
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Vector3 operator[](std::size_t index) const {
    if (is_float_) {
      const float* const at = static_cast<const float*>(data_) + index * 3;
      return {at[0], at[1], at[2]};
    }
    const double* const at = static_cast<const double*>(data_) + index * 3;
    return {at[0], at[1], at[2]};
  }
  /// Null if the positions are not floats.
  [[nodiscard]] const float* floats() const {
    return is_float_ ? static_cast<const float*>(data_) : nullptr;
  }

 private:
  const void* data_ = nullptr;
  std::size_t size_ = 0;
  bool is_float_ = false;
};

/// A colour. Each number is from 0 to 1.
struct ViewColor {
  float r = 0;
  float g = 0;
  float b = 0;
  float a = 1;
  /// From 0xrrggbb.
  [[nodiscard]] static constexpr ViewColor hex(std::uint32_t rgb) {
    return {static_cast<float>(rgb >> 16U & 255U) / 255, static_cast<float>(rgb >> 8U & 255U) / 255,
            static_cast<float>(rgb & 255U) / 255, 1};
  }
};

/// The frame and the time of one drawing.
struct ViewAt {
  std::string frame = {};  ///< empty: that of the View
  Time stamp = {};         ///< 0: now, by the node's clock
};

/// Options of View::points().
struct ViewPoints {
  std::span<const std::uint8_t> rgb = {};  ///< red, green and blue of each point, or empty
  std::span<const float> intensity = {};   ///< one for each point, or empty
  ViewAt at = {};
};

/// Options of lines and shapes.
struct ViewStyle {
  ViewColor color = ViewColor::hex(0xff9800);
  double width = 0.03;  ///< of lines and arrows, m
  ViewAt at = {};
};

/// Options of View.
struct ViewOptions {
  std::string prefix = {};    ///< "debug": the channels are debug/NAME
  std::string frame = "map";  ///< coordinate frame of the positions
};

/// Shows arrays in `hyphos view`:
///
///     const hyphos::View view(node);
///     view.points("cloud", xyz);                       // std::vector<float>, Eigen::Matrix3Xf, …
///     view.pose("robot", {{x, y, 0}, rotation});
///     view.scalar("error", error);
///
/// Each function publishes one message on the channel of its name, so that recordings and other
/// nodes receive it, too. The channel is made by the first call. It is latched unless the plan
/// names it: a viewer that starts later shows the last message. A further call replaces the earlier
/// one of its name. Lines, arrows, boxes, spheres and texts have one type, so that a name may
/// change between them. Python has the same in `node.view()`.
///
/// Cheap to copy and thread-safe. The copies share the publishers, so keep one View. Lengths are in
/// m. Throws hyphos::Exception: invalid_config if sizes do not fit (both numbers are named),
/// type_mismatch if the channel has another type, disconnected if the node is closed. Cost: the
/// look-up of a name, and one copy of points and pixels, into shared memory. A point of a shape
/// costs about 50 ns, a pose of a path about 300 ns.
class View {
 public:
  explicit View(const Node& node, ViewOptions options = {})
      : state_(std::make_shared<State>(node, std::move(options))) {}

  /// Shows points as a PointCloud of float32 x, y, z, and rgb and intensity where given.
  Published points(const std::string& name, const ViewPositions& xyz,
                   const ViewPoints& options = {}) const {
    const Cloud cloud(name, xyz.size(), options);
    const auto& publisher = get<Points>(name);
    WritableBuffer memory = publisher.loan_bytes(cloud.bytes());
    cloud.fill(xyz, options, memory.data());
    return publisher.publish(cloud.message(*state_, options.at, std::move(memory).freeze()));
  }
  /// Shows packed float32 x, y, z, 12 bytes a point, without a copy. See loan_points().
  Published points(const std::string& name, Buffer xyz, const ViewAt& at = {}) const {
    if (xyz.size() % kPointBytes != 0) {
      throw refused(
          "points", name,
          "a point has 12 bytes, found a buffer of " + std::to_string(xyz.size()) + " bytes");
    }
    const Cloud cloud(name, xyz.size() / kPointBytes, {});
    return get<Points>(name).publish(cloud.message(*state_, at, std::move(xyz)));
  }
  /// Memory for `count` points, `as<float>()` has 3 numbers of each, not initialised. Give its
  /// freeze() to points().
  [[nodiscard]] WritableBuffer loan_points(const std::string& name, std::size_t count) const {
    return get<Points>(name).loan_bytes(count * kPointBytes);
  }

  /// Shows one pose as a PoseStamped.
  Published pose(const std::string& name, const Isometry& pose, const ViewAt& at = {}) const {
    msgs::PoseStamped message;
    state_->stamp(*message.mutable_header(), at);
    set(*message.mutable_pose(), pose.translation, pose.rotation);
    return get<msgs::PoseStamped>(name).publish(std::move(message));
  }

  /// Shows poses in order as a Path. `rotations` is empty, or has one for each position.
  Published path(const std::string& name, const ViewPositions& positions,
                 std::span<const Quaternion> rotations = {}, const ViewAt& at = {}) const {
    if (!rotations.empty()) check("path", name, "rotations", rotations.size(), positions.size());
    msgs::Path message;
    state_->stamp(*message.mutable_header(), at);
    for (std::size_t i = 0; i < positions.size(); ++i) {
      msgs::PoseStamped& one = *message.add_poses();
      *one.mutable_header() = message.header();
      set(*one.mutable_pose(), positions[i], rotations.empty() ? Quaternion{} : rotations[i]);
    }
    return get<msgs::Path>(name).publish(std::move(message));
  }

  /// Shows a line through the points.
  Published line(const std::string& name, const ViewPositions& points,
                 const ViewStyle& style = {}) const {
    Shapes shapes(*state_, name, style);
    msgs::Marker& marker = shapes.add(msgs::Marker::LINE_STRIP);
    marker.mutable_scale()->set_x(style.width);
    for (std::size_t i = 0; i < points.size(); ++i) set(*marker.add_points(), points[i]);
    return show(name, std::move(shapes));
  }
  /// Shows arrows from each start to its end.
  Published arrow(const std::string& name, const ViewPositions& start, const ViewPositions& end,
                  const ViewStyle& style = {}) const {
    check("arrow", name, "ends", end.size(), start.size());
    Shapes shapes(*state_, name, style);
    for (std::size_t i = 0; i < start.size(); ++i) {
      msgs::Marker& marker = shapes.add(msgs::Marker::ARROW);
      set(*marker.mutable_scale(), {style.width, 2 * style.width, 3 * style.width});
      set(*marker.add_points(), start[i]);
      set(*marker.add_points(), end[i]);
    }
    return show(name, std::move(shapes));
  }
  /// Shows a box. `size`: its edges.
  Published box(const std::string& name, const Isometry& pose, const Vector3& size,
                const ViewStyle& style = {}) const {
    Shapes shapes(*state_, name, style);
    msgs::Marker& marker = shapes.add(msgs::Marker::CUBE);
    set(*marker.mutable_pose(), pose.translation, pose.rotation);
    set(*marker.mutable_scale(), size);
    return show(name, std::move(shapes));
  }
  /// Shows equal boxes at all centers.
  Published boxes(const std::string& name, const ViewPositions& centers, const Vector3& size,
                  const ViewStyle& style = {}) const {
    return list(msgs::Marker::CUBE_LIST, name, centers, size, style);
  }
  /// Shows equal spheres at all centers.
  Published spheres(const std::string& name, const ViewPositions& centers, double radius,
                    const ViewStyle& style = {}) const {
    const Vector3 size{2 * radius, 2 * radius, 2 * radius};
    return list(msgs::Marker::SPHERE_LIST, name, centers, size, style);
  }
  Published sphere(const std::string& name, const Vector3& center, double radius,
                   const ViewStyle& style = {}) const {
    return spheres(name, std::array{center.x, center.y, center.z}, radius, style);
  }
  /// Shows a text that faces the viewer. `size`: height of a capital letter.
  Published text(const std::string& name, std::string_view text, const Vector3& position,
                 double size = 0.3, const ViewStyle& style = {}) const {
    Shapes shapes(*state_, name, style);
    msgs::Marker& marker = shapes.add(msgs::Marker::TEXT_VIEW_FACING);
    set(*marker.mutable_pose()->mutable_position(), position);
    marker.mutable_scale()->set_z(size);
    marker.set_text(std::string(text));
    return show(name, std::move(shapes));
  }

  /// Shows pixels, row by row and without gaps. `encoding`: "rgb8", "bgr8", "rgba8", "mono8",
  /// "16UC1" (depth, mm) or "32FC1" (depth, m).
  template <msgs::detail::Consecutive C>
  Published image(const std::string& name, const C& pixels, std::uint32_t width,
                  std::uint32_t height, std::string_view encoding = "rgb8",
                  const ViewAt& at = {}) const {
    const auto bytes = std::as_bytes(std::span(pixels.data(), pixels.size()));
    const std::size_t step = image_step(name, width, height, encoding, bytes.size());
    const auto& publisher = get<Pixels>(name);
    WritableBuffer memory = publisher.loan_bytes(bytes.size());
    if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
    Pixels made;
    state_->stamp(*made.head.mutable_header(), at);
    made.head.set_width(width);
    made.head.set_height(height);
    made.head.set_step(static_cast<std::uint32_t>(step));
    made.head.set_encoding(std::string(encoding));
    made.buffers.push_back(std::move(memory).freeze());
    return publisher.publish(std::move(made));
  }

  /// Plots a number over time, as a Float64. It has no stamp: its time is that of the call.
  Published scalar(const std::string& name, double value) const {
    msgs::Float64 message;
    message.set_data(value);
    return get<msgs::Float64>(name).publish(std::move(message));
  }

  /// Removes the lines and shapes of this name.
  void clear(const std::string& name) const { show(name, Shapes(*state_, name, {})); }

 private:
  using Points = Attached<msgs::PointCloud>;
  using Pixels = Attached<msgs::Image>;
  static constexpr std::size_t kPointBytes = 12;

  static Exception refused(std::string_view function, const std::string& name,
                           const std::string& why) {
    return Exception({Code::invalid_config,
                      "View::" + std::string(function) + "(\"" + name + "\"): " + why,
                      {}});
  }
  static void check(std::string_view function, const std::string& name, std::string_view what,
                    std::size_t found, std::size_t wanted) {
    if (found == wanted) return;
    throw refused(function, name,
                  "needs one for each of the " + std::to_string(wanted) + " points, found " +
                      std::to_string(found) + " " + std::string(what));
  }
  static std::size_t image_step(const std::string& name, std::uint32_t width, std::uint32_t height,
                                std::string_view encoding, std::size_t bytes) {
    static constexpr std::array<std::pair<std::string_view, std::size_t>, 8> kPixelBytes = {
        {{"mono8", 1},
         {"rgb8", 3},
         {"bgr8", 3},
         {"rgba8", 4},
         {"bgra8", 4},
         {"mono16", 2},
         {"16UC1", 2},
         {"32FC1", 4}}};
    for (const auto& [known, size] : kPixelBytes) {
      if (known != encoding) continue;
      const std::size_t wanted = std::size_t{width} * height * size;
      if (bytes == wanted) return width * size;
      throw refused("image", name,
                    std::to_string(width) + " x " + std::to_string(height) + " pixels of " +
                        std::string(encoding) + " need " + std::to_string(wanted) +
                        " bytes, found " + std::to_string(bytes));
    }
    throw refused("image", name,
                  "unknown encoding '" + std::string(encoding) +
                      "': give mono8, rgb8, bgr8, rgba8, bgra8, mono16, 16UC1 or "
                      "32FC1");
  }

  template <typename Message>
  static void set(Message& to, const Vector3& from) {
    to.set_x(from.x);
    to.set_y(from.y);
    to.set_z(from.z);
  }
  static void set(msgs::Pose& to, const Vector3& position, const Quaternion& rotation) {
    set(*to.mutable_position(), position);
    msgs::Quaternion& turn = *to.mutable_orientation();
    turn.set_x(rotation.x);
    turn.set_y(rotation.y);
    turn.set_z(rotation.z);
    turn.set_w(rotation.w);
  }

  using AnyPublisher =
      std::variant<Publisher<Points>, Publisher<Pixels>, Publisher<msgs::PoseStamped>,
                   Publisher<msgs::Path>, Publisher<msgs::MarkerArray>, Publisher<msgs::Float64>>;

  struct State {
    State(const Node& from, ViewOptions with)
        : node(from), clock(from.clock()), options(std::move(with)) {
      if (!options.prefix.empty() && !options.prefix.ends_with('/')) options.prefix += '/';
    }
    void stamp(msgs::Header& header, const ViewAt& at) const {
      header.set_stamp_ns(at.stamp.ns == 0 ? clock.now().ns : at.stamp.ns);
      header.set_frame_id(at.frame.empty() ? options.frame : at.frame);
    }

    const Node node;
    const Clock clock;
    ViewOptions options;
    std::mutex mutex;
    std::map<std::string, AnyPublisher, std::less<>> publishers;  ///< guarded by `mutex`
  };

  /// The publisher of a name. Valid as long as the state: the map never loses an entry.
  template <typename T>
  [[nodiscard]] const Publisher<T>& get(const std::string& name) const {
    const std::lock_guard lock(state_->mutex);
    auto found = state_->publishers.find(name);
    if (found == state_->publishers.end()) {
      PublisherOptions options;
      options.policy.emplace().latched = true;
      found = state_->publishers
                  .emplace(name, state_->node.template publisher<T>(state_->options.prefix + name,
                                                                    options))
                  .first;
    }
    if (const auto* publisher = std::get_if<Publisher<T>>(&found->second)) return *publisher;
    throw Exception({Code::type_mismatch,
                     "View: '" + name + "' already shows another type. Choose another name",
                     state_->options.prefix + name});
  }

  /// The layout of a cloud.
  struct Cloud {
    Cloud(const std::string& name, std::size_t points, const ViewPoints& options) : count(points) {
      add("x", msgs::PointField::FLOAT32);
      add("y", msgs::PointField::FLOAT32);
      add("z", msgs::PointField::FLOAT32);
      if (!options.rgb.empty()) {
        check("points", name, "bytes of colours", options.rgb.size(), 3 * count);
        add("rgb", msgs::PointField::UINT32);
      }
      if (!options.intensity.empty()) {
        check("points", name, "intensities", options.intensity.size(), count);
        add("intensity", msgs::PointField::FLOAT32);
      }
    }
    [[nodiscard]] std::size_t bytes() const { return count * head.point_step(); }

    void fill(const ViewPositions& xyz, const ViewPoints& options, std::byte* to) const {
      const std::size_t step = head.point_step();
      if (step == kPointBytes && xyz.floats() != nullptr) {
        if (count > 0) std::memcpy(to, xyz.floats(), bytes());
        return;
      }
      for (std::size_t i = 0; i < count; ++i) {
        const Vector3 p = xyz[i];
        const std::array<float, 3> place = {static_cast<float>(p.x), static_cast<float>(p.y),
                                            static_cast<float>(p.z)};
        std::byte* at = to + i * step;
        std::memcpy(at, place.data(), kPointBytes);
        at += kPointBytes;
        if (!options.rgb.empty()) {
          const std::uint8_t* const c = options.rgb.data() + i * 3;
          const std::uint32_t packed =
              0xff000000U | std::uint32_t{c[0]} << 16U | std::uint32_t{c[1]} << 8U | c[2];
          std::memcpy(at, &packed, sizeof(packed));
          at += sizeof(packed);
        }
        if (!options.intensity.empty()) std::memcpy(at, &options.intensity[i], sizeof(float));
      }
    }
    [[nodiscard]] Points message(const State& state, const ViewAt& at, Buffer data) const {
      Points made;
      made.head = head;
      state.stamp(*made.head.mutable_header(), at);
      made.head.set_height(1);
      made.head.set_width(static_cast<std::uint32_t>(count));
      made.head.set_row_step(static_cast<std::uint32_t>(bytes()));
      made.buffers.push_back(std::move(data));
      return made;
    }

    std::size_t count;
    msgs::PointCloud head;

   private:
    void add(const char* name, msgs::PointField::DataType type) {
      msgs::PointField& field = *head.add_fields();
      field.set_name(name);
      field.set_offset(head.point_step());
      field.set_datatype(type);
      field.set_count(1);
      head.set_point_step(head.point_step() + 4);
    }
  };

  /// The shapes of one name. They replace all earlier ones.
  class Shapes {
   public:
    Shapes(const State& state, const std::string& name, const ViewStyle& style)
        : name_(name), color_(style.color) {
      state.stamp(header_, style.at);
      msgs::Marker& all = *message_.add_markers();
      *all.mutable_header() = header_;
      all.set_action(msgs::Marker::DELETEALL);
    }
    msgs::Marker& add(msgs::Marker::Type type) {
      msgs::Marker& made = *message_.add_markers();
      *made.mutable_header() = header_;
      made.set_ns(name_);
      made.set_id(message_.markers_size() - 2);
      made.set_type(type);
      made.mutable_pose()->mutable_orientation()->set_w(1);
      made.mutable_color()->set_r(color_.r);
      made.mutable_color()->set_g(color_.g);
      made.mutable_color()->set_b(color_.b);
      made.mutable_color()->set_a(color_.a);
      return made;
    }
    [[nodiscard]] msgs::MarkerArray take() && { return std::move(message_); }

   private:
    const std::string name_;
    const ViewColor color_;
    msgs::Header header_;
    msgs::MarkerArray message_;
  };

  Published show(const std::string& name, Shapes shapes) const {
    return get<msgs::MarkerArray>(name).publish(std::move(shapes).take());
  }
  Published list(msgs::Marker::Type type, const std::string& name, const ViewPositions& centers,
                 const Vector3& size, const ViewStyle& style) const {
    Shapes shapes(*state_, name, style);
    msgs::Marker& marker = shapes.add(type);
    set(*marker.mutable_scale(), size);
    for (std::size_t i = 0; i < centers.size(); ++i) set(*marker.add_points(), centers[i]);
    return show(name, std::move(shapes));
  }

  std::shared_ptr<State> state_;
};

}  // namespace hyphos
