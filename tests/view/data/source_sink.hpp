#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "view/core/source.hpp"

namespace hyphos::view {

/// Keeps the samples that a source passes.
class Collector : public Sink {
 public:
  void take(const Sample& sample) override { samples.push_back(sample); }
  void clear() override {
    samples.clear();
    ++clears;
  }
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const Sample& sample : samples) out.emplace_back(sample.payload.text());
    return out;
  }
  [[nodiscard]] std::vector<std::int64_t> times() const {
    std::vector<std::int64_t> out;
    for (const Sample& sample : samples) out.push_back(sample.time_ns);
    return out;
  }

  std::vector<Sample> samples;
  int clears = 0;
};

inline const Channel* find(const Source& source, std::string_view name) {
  const Channel* found = nullptr;  // the newest
  for (const Channel& channel : source.channels()) {
    if (channel.name == name) found = &channel;
  }
  return found;
}

/// A folder that is removed at the end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hyphos-view-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::string operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace hyphos::view
