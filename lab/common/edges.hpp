#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/common/options.hpp"

namespace hyphos::lab {

/// One hyperedge of a shape, as seen from one of its endpoints.
struct Edge {
  int index = 0;
  int publishers = 1;
  int subscribers = 1;
  int end = 0;         // the index of this process among its publishers or subscribers
  bool block = false;  // the publisher waits and loses nothing (uncapped: if possible)
  std::string name;    // unique on this machine
  std::string path;    // a path in the private directory of the run
  std::string host;    // address of its publisher (the one with index `end`)
  std::uint16_t port = 0;
};

/// The processes at an edge: "pub0", "hop3", "sub1".
struct EdgeEnds {
  std::vector<std::string> publishers, subscribers;
};

inline std::string process_name(const std::string& role, int index) {
  return (role == "both" ? "pub" : role) + std::to_string(index);
}

inline EdgeEnds ends_of(const Options& o, int edge) {
  EdgeEnds ends;
  const auto some = [](const std::string& role, int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(process_name(role, i));
    return names;
  };
  if (o.shape == Shape::kEcho) {
    const std::string source = process_name("pub", edge / 2);
    const std::string mirror = process_name("hop", edge / 2);
    ends.publishers = {edge % 2 == 0 ? source : mirror};
    ends.subscribers = {edge % 2 == 0 ? mirror : source};
    return ends;
  }
  ends.publishers = edge == 0 ? some("pub", o.sources())
                              : std::vector<std::string>{process_name("hop", edge - 1)};
  ends.subscribers = edge < o.hops() ? std::vector<std::string>{process_name("hop", edge)}
                                     : some("sub", o.sinks());
  return ends;
}

/// Edge `index`, as opened by process `end` of its publishers or subscribers.
inline Edge make_edge(const Options& o, int index, int end) {
  const EdgeEnds ends = ends_of(o, index);
  Edge e;
  e.index = index;
  e.publishers = static_cast<int>(ends.publishers.size());
  e.subscribers = static_cast<int>(ends.subscribers.size());
  e.end = end;
  e.block = o.floods();
  e.name = "hyphos_lab_" + std::to_string(o.run_id) + "_" + std::to_string(index);
  e.path = o.run_dir + "/edge" + std::to_string(index);
  const int hop = o.shape != Shape::kEcho ? index - 1 : index % 2 == 1 ? index / 2 : -1;
  e.host = hop >= 0 ? o.address_of("hop", hop) : o.address_of("pub", e.publishers > 1 ? end : 0);
  e.port = o.port(index);
  return e;
}

}  // namespace hyphos::lab
