#include "builtin/registry.hpp"

#include "builtin/camera.hpp"
#include "builtin/image_codec_nodes.hpp"
#include "builtin/joystick.hpp"
#include "builtin/robot_model.hpp"
#include "builtin/rplidar.hpp"

namespace hyphos::builtin {

namespace {

// A node is one file and one line here.
constexpr Known kNodes[] = {
    {"camera", "pictures of a camera (Video4Linux2)", [](const Node& n) { return open_camera(n); }},
    {"robot_model", "transforms of a URDF model from its joint states", &open_robot_model},
    {"compress_image", "images as JPEG or PNG", &open_compress_image},
    {"decompress_image", "JPEG and PNG as images", &open_decompress_image},
    {"joystick", "axes and buttons of a joystick or gamepad", &open_joystick},
    {"teleop", "speeds from a joystick, while a button is held", &open_teleop},
    {"rplidar", "scans of an RPLIDAR on a serial line", &open_rplidar},
};

}  // namespace

std::span<const Known> known_nodes() { return kNodes; }

}  // namespace hyphos::builtin
