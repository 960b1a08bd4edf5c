// A slow subscriber with a queue of three messages: each lost message is counted.
#include <cstdio>
#include <semaphore>

#include <hyphos/hyphos.hpp>
#include <hyphos/inspect.hpp>

struct Number {
  static constexpr std::string_view hyphos_type = "example.Number";
  int value = 0;
};

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("slow", argc, argv).or_throw();
  hyphos::Policy policy;
  policy.overflow = hyphos::Overflow::drop_oldest;
  policy.depth = 3;

  std::counting_semaphore started(0);
  std::counting_semaphore go_on(0);
  auto numbers = node.publisher<Number>("numbers", {.policy = policy});
  node.subscribe<Number>("numbers", hyphos::serial, [&](const hyphos::Message<Number>& number) {
    std::printf("received %d\n", number->value);
    started.release();
    go_on.acquire();
  });

  numbers.publish(Number{1});
  started.acquire();  // the callback is busy with 1, so all later messages wait
  for (int i = 2; i <= 10; ++i) numbers.publish(Number{i});
  for (int i = 0; i < 3; ++i) {
    go_on.release();
    started.acquire();
  }
  const auto processes = hyphos::inspect(node.runtime().domain()).or_throw();
  for (const hyphos::EndpointInfo& end : processes.at(0).endpoints) {
    for (const auto& [name, count] : end.counters) std::printf("%s %lu\n", name.c_str(), count);
  }
  go_on.release();
}
