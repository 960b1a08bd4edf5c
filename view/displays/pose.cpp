#include <cmath>

#include "hyphos/msgs/geometry.pb.h"
#include "hyphos/msgs/nav.pb.h"
#include "view/displays/kinds.hpp"
#include "view/displays/message.hpp"
#include "view/displays/trail.hpp"

namespace hyphos::view {
namespace {

const msgs::Pose& pose_in(const msgs::PoseStamped& m) { return m.pose(); }
const msgs::Pose& pose_in(const msgs::PoseWithCovarianceStamped& m) { return m.pose().pose(); }
const msgs::Pose& pose_in(const msgs::Odometry& m) { return m.pose().pose(); }

using Covariance = google::protobuf::RepeatedField<double>;
const Covariance* covariance_in(const msgs::PoseStamped&) { return nullptr; }
const Covariance* covariance_in(const msgs::PoseWithCovarianceStamped& m) {
  return &m.pose().covariance();
}
const Covariance* covariance_in(const msgs::Odometry& m) { return &m.pose().covariance(); }

/// Poses with their past and, where the message has it, the ellipsoid of their covariance.
template <typename T>
class PoseDisplay final : public MessageDisplay<T> {
 public:
  explicit PoseDisplay(const std::string& shape) {
    trail_.add_properties(this->properties_, shape);
    if constexpr (kHasCovariance) {
      this->properties_.add("covariance", &covariance_, "ellipsoid of the position's covariance");
      this->properties_.add("sigmas", &sigmas_, "size of the ellipsoid in standard deviations", "",
                            0.1, 10);
      this->properties_.add("covariance_color", &covariance_color_, "colour of the ellipsoid");
    }
  }

  void paint(Painter& painter) override {
    if (!this->pose_) return;
    const Pose at = *this->pose_ * local_;
    trail_.paint(painter, at);
    if (covariance_ && axes_) {
      Pose where = at;
      where.linear() = this->pose_->linear() * turn_;
      painter.shape(Shape::sphere, where, (*axes_) * 2, covariance_color_);
    }
  }
  void clear() override {
    MessageDisplay<T>::clear();
    trail_.clear();
  }
  bool settings_changed() override {
    trail_.settings_changed();
    return trail_.set() != nullptr || trail_.history_ns() != 0;
  }
  bool update() override {
    const bool gone = trail_.expire(this->surroundings().now_ns);
    return MessageDisplay<T>::update() || gone;
  }
  void fixed_frame_changed(const std::string& from) override {
    if (const auto moved = this->try_pose(from, latest)) {
      trail_.move(*moved);
    } else {
      trail_.clear();
    }
    MessageDisplay<T>::fixed_frame_changed(from);
  }
  void set_visible(bool visible) override {
    Display::set_visible(visible);
    trail_.set_visible(visible);
  }
  [[nodiscard]] Bounds bounds() const override {
    Bounds all = trail_.set() == nullptr ? Bounds{} : trail_.set()->bounds();
    if (this->pose_) all.add((*this->pose_ * local_).translation());
    return all;
  }
  [[nodiscard]] std::size_t bytes() const override {
    return MessageDisplay<T>::bytes() + (trail_.set() == nullptr ? 0 : trail_.set()->bytes());
  }
  [[nodiscard]] std::int64_t oldest_ns() const override {
    return trail_.set() == nullptr ? Display::oldest_ns() : trail_.set()->oldest_ns();
  }
  [[nodiscard]] std::int64_t history_ns() const override { return trail_.history_ns(); }
  void drop_oldest() override {
    if (trail_.set() != nullptr) trail_.set()->drop_oldest();
  }

 private:
  static constexpr bool kHasCovariance = !std::is_same_v<T, msgs::PoseStamped>;

  std::string check(T& message) override {
    const auto pose = to_pose(pose_in(message));
    if (!pose) return "the pose has a number that is not finite";
    const Covariance* const numbers = covariance_in(message);
    if (numbers != nullptr && numbers->size() != 0 && numbers->size() != 36) {
      return "the covariance has " + std::to_string(numbers->size()) + " numbers instead of 36";
    }
    return "";
  }

  void placed(const T& message, const Pose& pose) override {
    local_ = *to_pose(pose_in(message));
    this->report(Health::good, "");
    axes_.reset();
    const Covariance* const numbers = covariance_in(message);
    if (numbers != nullptr && numbers->size() == 36) {
      Mat3 matrix;
      for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) matrix(i, j) = numbers->Get(6 * i + j);
      }
      if (const auto found = covariance_axes(matrix, sigmas_)) {
        const Vec3 sizes = found->colwise().norm();
        axes_ = sizes.cwiseMax(1e-4);
        turn_ = Mat3::Identity();
        if (sizes.minCoeff() > 1e-12) turn_ = *found * sizes.cwiseInverse().asDiagonal();
        // Flat ellipsoids keep the directions of their other axes.
        if (sizes.minCoeff() <= 1e-12) turn_ = flat_turn(*found, sizes);
      } else {
        this->report(Health::warning, "the covariance of the position is not a covariance matrix");
      }
    }
    trail_.add(this->store(), pose * local_, this->time_ns_, this->visible());
  }

  // Orthonormal directions, although some of the axes have no length.
  static Mat3 flat_turn(const Mat3& axes, const Vec3& sizes) {
    Mat3 turn = Mat3::Identity();
    int longest = 0;
    sizes.maxCoeff(&longest);
    if (sizes[longest] <= 1e-12) return turn;
    const Vec3 first = axes.col(longest) / sizes[longest];
    Vec3 second = Vec3::Zero();
    for (int i = 0; i < 3; ++i) {
      if (i != longest && sizes[i] > 1e-12) second = axes.col(i) / sizes[i];
    }
    if (second.norm() < 0.5) second = first.unitOrthogonal();
    turn.col(longest) = first;
    turn.col((longest + 1) % 3) = second;
    turn.col((longest + 2) % 3) = first.cross(second);
    return turn;
  }

  Trail trail_;
  Pose local_ = Pose::Identity();  // in the frame of the header
  bool covariance_ = true;
  double sigmas_ = 2;
  Color covariance_color_{190, 110, 230, 90};
  std::optional<Vec3> axes_;
  Mat3 turn_ = Mat3::Identity();
};

}  // namespace

std::unique_ptr<Display> make_pose() {
  return std::make_unique<PoseDisplay<msgs::PoseStamped>>("axes");
}
std::unique_ptr<Display> make_pose_with_covariance() {
  return std::make_unique<PoseDisplay<msgs::PoseWithCovarianceStamped>>("axes");
}
std::unique_ptr<Display> make_odometry() {
  return std::make_unique<PoseDisplay<msgs::Odometry>>("axes");
}

}  // namespace hyphos::view
