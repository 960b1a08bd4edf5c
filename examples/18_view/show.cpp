// Shows arrays in `hyphos view`, which may start before or after this program.
#include <array>
#include <cmath>
#include <vector>

#include <hyphos/hyphos.hpp>
#include <hyphos/msgs/view.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("show", argc, argv).or_throw();
  const hyphos::View view(node);
  std::vector<std::array<double, 3>> spiral;
  for (double angle = 0; spiral.size() < 2000; angle += 0.01) {
    spiral.push_back({std::cos(angle), std::sin(angle), angle / 10});
  }
  view.points("spiral", spiral);
  const std::vector<float> axis = {0, 0, 0, 0, 0, 2};
  view.line("axis", axis, {.color = hyphos::ViewColor::hex(0xffffff)});
  return node.spin();
}
