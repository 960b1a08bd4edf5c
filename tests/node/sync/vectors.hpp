#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <sstream>
#include <string>
#include <vector>

#include "hyphos/synchronizer.hpp"

namespace hyphos::test {

/// One message of a case, and the sets that it completes, as message numbers.
struct SyncStep {
  std::size_t channel = 0;
  std::int64_t stamp_ns = 0;
  std::vector<std::vector<std::size_t>> sets;
};

struct SyncCase {
  std::string title;
  std::size_t channels = 0;
  SyncOptions options;
  std::vector<SyncStep> steps;
};

/// Reads the output of ros_sync_vectors.cpp, which describes the form.
inline std::vector<SyncCase> read_sync_cases(std::istream& in) {
  std::vector<SyncCase> cases;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind;
    words >> kind;
    if (kind == "+") {
      SyncStep& step = cases.back().steps.emplace_back();
      words >> step.channel >> step.stamp_ns;
    } else if (kind == "=") {
      auto& set = cases.back().steps.back().sets.emplace_back();
      for (std::size_t number = 0; words >> number;) set.push_back(number);
    } else if (kind == "case") {
      SyncCase& made = cases.emplace_back();
      made.title = std::to_string(cases.size()) + ": " + line;
      std::string rule;
      words >> rule;
      made.options.rule = rule == "exact" ? SyncRule::exact : SyncRule::approximate;
      for (std::string word; words >> word;) {
        const std::string key = word.substr(0, word.find('='));
        const std::string value = word.substr(key.size() + 1);
        if (key == "channels") made.channels = std::stoul(value);
        if (key == "queue") made.options.queue = static_cast<std::uint32_t>(std::stoul(value));
        if (key == "max_interval" && value != "-1")
          made.options.max_interval.ns = std::stoll(value);
        if (key == "age_penalty") made.options.age_penalty = std::stod(value);
        if (key != "spacing") continue;
        std::istringstream bounds(value);
        for (std::string bound; std::getline(bounds, bound, ',');) {
          made.options.min_spacing.push_back(Duration{std::stoll(bound)});
        }
      }
    }
  }
  return cases;
}

}  // namespace hyphos::test
