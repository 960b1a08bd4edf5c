#include "cosim/scenario/pose_json.hpp"

#include "cosim/core/json_line.hpp"

namespace hyphos::cosim {

std::string time_json(Time time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  return JsonLine().add("sec", time.ns / kSecond).add("nsec", time.ns % kSecond).take();
}

std::string vector_json(const Vec3& v) {
  return JsonLine().add("x", v.x).add("y", v.y).add("z", v.z).take();
}

std::string pose_json(const Vec3& at, const Quaternion& turn) {
  const std::string orientation =
      JsonLine().add("x", turn.x).add("y", turn.y).add("z", turn.z).add("w", turn.w).take();
  return JsonLine().json("position", vector_json(at)).json("orientation", orientation).take();
}

}  // namespace hyphos::cosim
