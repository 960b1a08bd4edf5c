#include "gateway/facade/announce.hpp"

#include <utility>

#include "hyphos/inspect.hpp"

namespace hyphos::gateway {

void announce(const Node& node, const Types& types, std::initializer_list<const TypeId*> ids) {
  for (const TypeId* id : ids) {
    if (id->encoding != Encoding::protobuf && id->encoding != Encoding::attached) continue;
    const std::string files = types.definition(id->name);
    if (files.empty()) continue;
    if (const auto announced = node.runtime().announce_types(files); !announced) {
      node.log().warn("tools cannot decode ", id->name, ": ", announced.error().to_string());
    }
  }
}

std::function<std::vector<std::string>()> announced_in_domain(const Node& node) {
  return [runtime = node.runtime()] {
    // This process first: it need not be in shared memory.
    std::vector<std::string> sets = {runtime.announced_types()};
    auto others = announced_types(runtime.domain());
    if (!others) return sets;
    for (AnnouncedTypes& one : *others) sets.push_back(std::move(one.descriptors));
    return sets;
  };
}

}  // namespace hyphos::gateway
