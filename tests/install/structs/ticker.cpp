// Sends one struct and one buffer through one process.
#include <cstdint>
#include <vector>

#include <hyphos/node.hpp>

struct Tick {
  std::int64_t count = 0;
};

int main() {
  hyphos::RuntimeOptions options;
  options.offline = true;
  const auto node = hyphos::Node::open("ticker", options).or_throw();
  std::int64_t got = 0;
  node.subscribe<Tick>("tick", hyphos::inline_,
                       [&](const hyphos::Message<Tick>& tick) { got += tick->count; });
  node.subscribe<hyphos::Buffer>("pixels", hyphos::inline_, [&](const auto& pixels) {
    for (const std::uint8_t one : pixels->template as<std::uint8_t>()) got += one;
  });
  node.publisher<Tick>("tick").publish({40});
  node.publisher<hyphos::Buffer>("pixels").publish(
      hyphos::Buffer::adopt(std::vector<std::uint8_t>{1, 1}));
  return got == 42 ? 0 : 1;
}
