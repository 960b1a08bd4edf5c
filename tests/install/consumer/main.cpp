// An external project: uses an installed Hyphos and its own message, and sends a message through a
// graph.
#include <cstdio>
#include <future>

#include "garden/plant.pb.h"
#include <hyphos/hyphos.hpp>

int main() {
  hyphos::RuntimeOptions options;
  options.offline = true;
  auto node = hyphos::Node::open("gardener", options).or_throw();

  std::promise<float> height;
  node.subscribe<garden::Plant>("plant", hyphos::serial, [&](const auto& plant) {
    height.set_value(plant->header().frame_id() == "bed" ? plant->height() : 0.0F);
  });

  garden::Plant plant;
  plant.mutable_header()->set_frame_id("bed");
  plant.set_height(1.5F);
  if (!node.publisher<garden::Plant>("plant").publish(plant)) return 1;
  const float received = height.get_future().get();
  std::printf("a plant of %.1f m\n", static_cast<double>(received));
  return received == 1.5F ? 0 : 1;
}
