#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hyphos/codec.hpp"
#include "hyphos/policy.hpp"
#include "hyphos/result.hpp"
#include "view/core/sample.hpp"
#include "view/core/source.hpp"

namespace hyphos::record {
class Recorder;
}

namespace hyphos::view {

/// The past of a live source in a recording, which is complete after the end.
///
/// The recorder compresses and writes in threads of its own, and counts messages that the disk did
/// not take. Reading takes over the written chunks. Not thread-safe.
class PastFile {
 public:
  /// Errors: already_exists, permission, io, exhausted.
  static Result<std::unique_ptr<PastFile>> create(const std::string& path);
  PastFile(const PastFile&) = delete;
  PastFile& operator=(const PastFile&) = delete;
  ~PastFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  /// A channel of the samples that follow. `types` has the definition of its type, if it is known.
  void offer(const Channel& channel, const TypeId& type, const Policy& policy,
             const google::protobuf::DescriptorPool& types);
  /// Copies small messages, and shares large ones until they are written.
  void add(const Sample& sample);
  /// The time of the first sample, 0 without one.
  [[nodiscard]] std::int64_t begin_ns() const { return begin_ns_; }
  /// As Source::seek(), without clear(). Waits until all samples are written.
  Result<void> pass(std::int64_t time_ns, const Lookback& history,
                    const std::set<std::string>& channels, Sink& sink);
  [[nodiscard]] std::int64_t step(std::int64_t time_ns, int step,
                                  const std::set<std::string>& channels);
  /// The fault of the disk, once there is one. Looks at most once a second.
  [[nodiscard]] std::string problem();
  [[nodiscard]] std::size_t memory() const;
  void limit_memory(std::size_t bytes);

 private:
  PastFile(std::string path, std::shared_ptr<std::int64_t> now,
           std::shared_ptr<record::Recorder> recorder);
  /// Opens or refreshes the reader.
  Result<void> read();

  const std::string path_;
  const std::shared_ptr<std::int64_t> now_;  // the log time of the next sample
  std::shared_ptr<record::Recorder> recorder_;
  std::map<std::uint32_t, std::uint16_t> ids_;  // in the file, by channel
  std::map<std::pair<std::string, std::string>, std::uint32_t> channels_;  // by name and type
  std::unique_ptr<Source> reader_;
  std::set<std::string> selected_;
  std::size_t limit_;
  std::int64_t begin_ns_ = 0;
  std::int64_t looked_ns_ = 0;
  std::string problem_;
};

}  // namespace hyphos::view
