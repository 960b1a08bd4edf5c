#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "hyphos/msgs/visualization.pb.h"
#include "view/core/words.hpp"
#include "view/displays/kinds.hpp"
#include "view/displays/mesh_file.hpp"
#include "view/displays/message.hpp"

namespace hyphos::view {
namespace {

using Type = msgs::Marker;
constexpr std::size_t kMostMarkers = 20'000;
constexpr int kMostPoints = 5'000'000;  // of one marker
constexpr double kMostLine = 64;        // px

bool uses_points(int type) {
  switch (type) {
    case Type::LINE_STRIP:
    case Type::LINE_LIST:
    case Type::CUBE_LIST:
    case Type::SPHERE_LIST:
    case Type::POINTS:
    case Type::TRIANGLE_LIST:
    case Type::ARROW_STRIP:
      return true;
    default:
      return false;
  }
}

/// A marker, prepared for painting.
struct Shown {
  msgs::Marker message;  // without its points
  std::vector<Vertex> vertices;
  std::unique_ptr<MeshModel> mesh;  // also triangles with a texture
  Pose local = Pose::Identity();
  std::optional<Pose> frame;  // the pose of the frame in the fixed frame
  std::int64_t time_ns = 0;
  std::size_t bytes = 0;
};

/// The markers of a channel, by namespace and id, with the meaning of ROS.
class Markers : public Display {
 public:
  Markers() {
    properties_.add("hidden", &hidden_, "namespaces that are not shown, separated by ','");
    properties_.add("packages", &packages_, "folders of package:// meshes, separated by ':'");
  }

  void clear() override {
    markers_.clear();
    bytes_ = 0;
    report(Health::waiting, "no message yet");
  }
  [[nodiscard]] std::size_t bytes() const override { return bytes_; }
  [[nodiscard]] std::int64_t oldest_ns() const override {
    std::int64_t oldest = Display::oldest_ns();
    for (const auto& [key, each] : markers_) oldest = std::min(oldest, each.time_ns);
    return oldest;
  }
  void drop_oldest() override {
    const auto oldest = std::ranges::min_element(
        markers_, {}, [](const auto& each) { return each.second.time_ns; });
    if (oldest != markers_.end()) remove(oldest);
  }
  bool settings_changed() override {
    hidden_set_.clear();
    for (std::size_t at = 0; at < hidden_.size();) {
      const std::size_t end = std::min(hidden_.find(',', at), hidden_.size());
      hidden_set_.insert(hidden_.substr(at, end - at));
      at = end + 1;
    }
    return false;
  }
  void fixed_frame_changed(const std::string&) override {
    for (auto& [key, each] : markers_) each.frame.reset();
    place_all();
  }
  bool update() override {
    bool changed = false;
    for (auto each = markers_.begin(); each != markers_.end();) {
      const std::int64_t lifetime = each->second.message.lifetime_ns();
      const auto next = std::next(each);
      if (lifetime > 0 && surroundings().now_ns - each->second.time_ns >= lifetime) {
        remove(each);
        changed = true;
      }
      each = next;
    }
    if (surroundings().frames->version() != seen_frames_) changed = place_all() || changed;
    return changed;
  }
  void paint(Painter& painter) override {
    for (const auto& [key, each] : markers_) {
      if (each.frame && !hidden_set_.contains(key.first)) paint(painter, each);
    }
  }
  [[nodiscard]] Bounds bounds() const override {
    Bounds all;
    for (const auto& [key, each] : markers_) {
      if (!each.frame) continue;
      const Pose at = *each.frame * each.local;
      if (!uses_points(each.message.type())) all.add(at.translation());
      const std::size_t step = std::max<std::size_t>(each.vertices.size() / 1'000, 1);
      for (std::size_t i = 0; i < each.vertices.size(); i += step) {
        all.add(at * Vec3(each.vertices[i].x, each.vertices[i].y, each.vertices[i].z));
      }
    }
    return all;
  }

 protected:
  void apply(const msgs::Marker& message, std::int64_t time_ns) {
    const Key key{message.ns(), message.id()};
    switch (message.action()) {
      case msgs::Marker::ADD:
        return add(key, message, time_ns);
      case msgs::Marker::DELETE:
        if (const auto found = markers_.find(key); found != markers_.end()) remove(found);
        return;
      case msgs::Marker::DELETEALL:
        for (auto each = markers_.begin(); each != markers_.end();) {
          const auto next = std::next(each);
          if (message.ns().empty() || each->first.first == message.ns()) remove(each);
          each = next;
        }
        return;
      default:
        refuse("the marker has the unknown action " + std::to_string(message.action()));
    }
  }
  void describe() {
    if (!fault_.empty()) return;
    report(lost_ > 0 ? Health::error : Health::good,
           grouped(markers_.size()) + " markers" + (lost_ > 0 ? ". " + lost_text_ : ""));
  }
  void begin_message() { fault_.clear(); }

 private:
  using Key = std::pair<std::string, std::int32_t>;
  using Map = std::map<Key, Shown>;

  void reject(const Key& key, const std::string& why) {
    fault_ = "marker '" + key.first + "' " + std::to_string(key.second) + ": " + why;
    refuse(fault_);
  }

  void remove(Map::iterator at) {
    bytes_ -= at->second.bytes;
    markers_.erase(at);
  }

  void add(const Key& key, const msgs::Marker& message, std::int64_t time_ns) {
    const auto local = to_pose(message.pose());
    const Vec3 scale = to_eigen(message.scale());
    if (!local) return reject(key, "its pose has a number that is not finite");
    if (!scale.allFinite() || scale.cwiseAbs().maxCoeff() > kFarthest)
      return reject(key, "its scale has a number that is not finite");
    if (message.type() < 0 || message.type() > Type::ARROW_STRIP) {
      return reject(key, "unknown type " + std::to_string(message.type()));
    }
    if (message.points_size() > kMostPoints) {
      return reject(key, grouped(static_cast<std::uint64_t>(message.points_size())) +
                             " points, the limit is " + grouped(kMostPoints));
    }
    if (message.colors_size() != 0 && message.colors_size() != message.points_size()) {
      return reject(key, std::to_string(message.colors_size()) + " colours for " +
                             std::to_string(message.points_size()) + " points");
    }
    if (!markers_.contains(key) && markers_.size() >= kMostMarkers) {
      return reject(key, "more than " + grouped(kMostMarkers) + " markers");
    }
    Shown made;
    made.message = message;
    made.local = *local;
    made.time_ns = time_ns;
    std::uint64_t skipped = 0;
    for (int i = 0; i < message.points_size(); ++i) {
      const Vec3 p = to_eigen(message.points(i));
      if (!p.allFinite() || p.cwiseAbs().maxCoeff() > kFarthest) {
        ++skipped;
        continue;
      }
      made.vertices.push_back(
          {static_cast<float>(p.x()), static_cast<float>(p.y()), static_cast<float>(p.z()),
           to_color(message.colors_size() != 0 ? message.colors(i) : message.color())});
    }
    counters_.skipped += skipped;
    prepare(key, made);
    made.message.clear_points();
    made.message.clear_colors();
    made.message.clear_mesh_file();
    made.bytes = sizeof(Shown) + made.vertices.capacity() * sizeof(Vertex) +
                 (made.mesh == nullptr ? 0 : made.mesh->bytes());
    if (const auto old = markers_.find(key); old != markers_.end()) remove(old);
    bytes_ += made.bytes;
    place(markers_.emplace(key, std::move(made)).first->second);
  }

  // Vertices in the form in which they are painted: pairs of lines.
  void prepare(const Key& key, Shown& made) {
    if (made.message.type() == Type::LINE_STRIP) {
      std::vector<Vertex> pairs;
      for (std::size_t i = 1; i < made.vertices.size(); ++i) {
        pairs.push_back(made.vertices[i - 1]);
        pairs.push_back(made.vertices[i]);
      }
      made.vertices = std::move(pairs);
    } else if (made.message.type() == Type::MESH_RESOURCE) {
      auto file = load(made.message);
      if (!file) return reject(key, file.error().where + ": " + file.error().message);
      if (!made.message.mesh_use_embedded_materials()) {
        remove_materials(*file);
      } else if (!file->problems.empty()) {
        reject(key, file->problems.front());
      }
      made.mesh = std::make_unique<MeshModel>(store(), *file);
    } else if (made.message.type() == Type::TRIANGLE_LIST &&
               !made.message.texture_resource().empty()) {
      auto file = textured(made.message);
      if (!file) return reject(key, file.error().message);
      made.mesh = std::make_unique<MeshModel>(store(), *file);
      made.vertices.clear();
    }
  }

  /// The triangles of a marker with its texture.
  Result<MeshFile> textured(const msgs::Marker& message) const {
    if (message.uv_coordinates_size() != message.points_size()) {
      return Error{Code::corrupt,
                   std::to_string(message.uv_coordinates_size()) + " uv_coordinates for " +
                       std::to_string(message.points_size()) + " points",
                   ""};
    }
    auto image = texture_of(message);
    if (!image) return image.error();
    MeshPart part{{}, 0};
    for (int i = 0; i + 2 < message.points_size(); i += 3) {
      std::array<MeshVertex, 3> corners;
      bool finite = true;
      for (int j = 0; j < 3; ++j) {
        const Vec3 at = to_eigen(message.points(i + j));
        const auto& place = message.uv_coordinates(i + j);
        finite = finite && at.allFinite() && at.cwiseAbs().maxCoeff() <= kFarthest &&
                 std::isfinite(place.u()) && std::isfinite(place.v());
        // A marker without a colour has the colours of the image.
        Color color =
            to_color(message.colors_size() != 0 ? message.colors(i + j) : message.color());
        if (color.a == 0) color = Color{};
        corners[static_cast<std::size_t>(j)] = {at.cast<float>(), Vec3f::UnitZ(), color,
                                                static_cast<float>(place.u()),
                                                static_cast<float>(place.v())};
      }
      const Vec3f across = (corners[1].at - corners[0].at).cross(corners[2].at - corners[0].at);
      if (!finite || !(across.squaredNorm() > 0)) continue;
      for (MeshVertex& each : corners) each.normal = across.normalized();
      part.triangles.insert(part.triangles.end(), corners.begin(), corners.end());
    }
    MeshFile file;
    file.parts.push_back(std::move(part));
    file.images.push_back(std::move(*image));
    return file;
  }

  Result<Pixels> texture_of(const msgs::Marker& message) const {
    const std::string& name = message.texture_resource();
    if (name.starts_with("embedded://")) {
      return decode_file(std::as_bytes(std::span(message.texture().data())), name, kMostTexels);
    }
    auto path = resolve_resource(name, packages_);
    if (!path) return path.error();
    return load_image(*path);
  }

  Result<MeshFile> load(const msgs::Marker& message) const {
    if (message.mesh_resource().starts_with("embedded://")) {
      return read_mesh(std::as_bytes(std::span(message.mesh_file().data())),
                       message.mesh_file().filename());
    }
    auto path = resolve_resource(message.mesh_resource(), packages_);
    if (!path) return path.error();
    return load_mesh(*path);
  }

  bool place(Shown& each) {
    const msgs::Header& header = each.message.header();
    const auto found =
        try_pose(frame_of(header), each.message.frame_locked() ? latest : stamp_of(header));
    if (!found) {
      ++lost_;
      lost_text_ = found.error().message;
      return false;
    }
    const bool changed = !each.frame || !each.frame->isApprox(*found, 1e-12);
    each.frame = *found;
    return changed;
  }

  bool place_all() {
    seen_frames_ = surroundings().frames->version();
    lost_ = 0;
    bool changed = false;
    for (auto& [key, each] : markers_) {
      const bool follows = each.message.frame_locked() || each.message.header().stamp_ns() == 0;
      if (!each.frame || follows) changed = place(each) || changed;
    }
    if (!markers_.empty()) describe();
    return changed;
  }

  void paint(Painter& painter, const Shown& each) const {
    const Pose pose = *each.frame * each.local;
    const Vec3 scale = to_eigen(each.message.scale());
    const Color color = to_color(each.message.color());
    const double line =
        std::clamp(scale.x() / painter.pixel_size(pose.translation()), 1.0, kMostLine);
    const auto at = [&](const Vertex& v) {
      Pose where = pose;
      where.translation() = pose * Vec3(v.x, v.y, v.z);
      return where;
    };
    switch (each.message.type()) {
      case Type::ARROW:
        if (each.vertices.size() >= 2) {
          const double head = scale.y() > 0 ? scale.y() : 2 * scale.x();
          painter.arrow(at(each.vertices[0]).translation(), at(each.vertices[1]).translation(),
                        scale.x(), head, color);
        } else {
          painter.arrow(pose.translation(), pose * Vec3(scale.x(), 0, 0), scale.y(), scale.y() * 2,
                        color);
        }
        return;
      case Type::CUBE:
        return painter.shape(Shape::box, pose, scale, color);
      case Type::SPHERE:
        return painter.shape(Shape::sphere, pose, scale, color);
      case Type::CYLINDER:
        return painter.shape(Shape::cylinder, pose, scale, color);
      case Type::LINE_STRIP:
      case Type::LINE_LIST:
        return painter.lines(pose, each.vertices, line);
      case Type::CUBE_LIST:
      case Type::SPHERE_LIST: {
        const Shape shape = each.message.type() == Type::CUBE_LIST ? Shape::box : Shape::sphere;
        for (const Vertex& v : each.vertices) painter.shape(shape, at(v), scale, v.color);
        return;
      }
      case Type::POINTS:
        return painter.points(pose, each.vertices, line);
      case Type::TEXT_VIEW_FACING:
        return painter.text(pose.translation(), each.message.text(), color, scale.z() * 1.37);
      case Type::MESH_RESOURCE:
        if (each.mesh != nullptr) {
          // An unset colour with embedded materials leaves the colours of the mesh.
          const bool own = each.message.mesh_use_embedded_materials() && color.a == 0;
          each.mesh->paint(painter, pose, scale, own ? Color{} : color);
        }
        return;
      case Type::TRIANGLE_LIST: {
        if (each.mesh != nullptr) return each.mesh->paint(painter, pose, scale, Color{});
        Pose scaled = pose;
        std::vector<Vertex> corners = each.vertices;
        for (Vertex& v : corners) {
          v.x *= static_cast<float>(scale.x());
          v.y *= static_cast<float>(scale.y());
          v.z *= static_cast<float>(scale.z());
        }
        return painter.triangles(scaled, corners);
      }
      case Type::ARROW_STRIP:
        for (std::size_t i = 1; i < each.vertices.size(); ++i) {
          painter.arrow(at(each.vertices[i - 1]).translation(), at(each.vertices[i]).translation(),
                        scale.x(), scale.y() > 0 ? scale.y() : 2 * scale.x(),
                        each.vertices[i].color);
        }
        return;
      default:
        return;
    }
  }

  std::string hidden_;
  std::string packages_;
  std::set<std::string, std::less<>> hidden_set_;
  Map markers_;
  std::size_t bytes_ = 0;
  std::size_t lost_ = 0;  // markers without a pose
  std::string lost_text_;
  std::string fault_;  // of the last message
  std::uint64_t seen_frames_ = 0;
};

class OneMarker final : public Markers {
 public:
  void take(const Sample& sample) override {
    ++counters_.taken;
    msgs::Marker message;
    if (!parse(sample, message)) return refuse(not_a("hyphos.msgs.Marker", sample));
    begin_message();
    apply(message, sample.time_ns);
    describe();
  }
};

class MarkerArray final : public Markers {
 public:
  void take(const Sample& sample) override {
    ++counters_.taken;
    msgs::MarkerArray message;
    if (!parse(sample, message)) return refuse(not_a("hyphos.msgs.MarkerArray", sample));
    begin_message();
    for (const msgs::Marker& each : message.markers()) apply(each, sample.time_ns);
    describe();
  }
};

}  // namespace

std::unique_ptr<Display> make_marker() { return std::make_unique<OneMarker>(); }
std::unique_ptr<Display> make_marker_array() { return std::make_unique<MarkerArray>(); }

}  // namespace hyphos::view
