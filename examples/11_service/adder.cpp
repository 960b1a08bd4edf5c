// A service: one node replies to the calls of any number of clients. The returned value is the
// reply, and an error is a reply too.
#include "sum.hpp"
#include <hyphos/hyphos.hpp>

int main(int argc, char** argv) {
  auto node = hyphos::Node::open("adder", argc, argv).or_throw();
  node.service<Sum, Total>("add", [](const Sum& sum) -> hyphos::Result<Total> {
    Total total;
    if (__builtin_add_overflow(sum.a, sum.b, &total.value)) {
      return hyphos::Error{hyphos::Code::unsupported, "the total needs more than 64 bits", "add"};
    }
    return total;
  });
  return node.spin();
}
