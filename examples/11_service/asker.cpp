// Calls three times: for a reply, for a refusal, and for a service that no node offers.
#include <cstdint>
#include <cstdio>

#include "sum.hpp"
#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("asker", argc, argv).or_throw();
  auto add = node.client<Sum, Total>("add");
  auto total = add.call({2, 3}).or_throw();  // waits for the server, at most 5 s in all
  std::printf("2 + 3 = %ld\n", static_cast<long>(total.value));

  auto refused = add.call({INT64_MAX, 1});
  std::printf("%s\n", refused.error().to_string().c_str());

  auto nobody = node.client<Sum, Total>("multiply").call({2, 3}, hyphos::Duration::from_ms(100));
  std::printf("%s\n", std::string(to_string(nobody.error().code)).c_str());
  std::fflush(stdout);
  return node.spin();
}
