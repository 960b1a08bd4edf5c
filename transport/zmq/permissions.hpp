#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace hyphos::transport::zmq {

/// Channels that were permitted or forbidden at run time, by the name of a peer. A peer has several
/// names: its process, which two robots may share, and its endpoints. The latest setting for one of
/// its names applies. It overrides a setting for all peers. Not thread-safe.
class Permissions {
  struct Setting {
    std::uint64_t order = 0;  // from 1. The first setting is the oldest
    bool allowed = false;
  };

 public:
  void set(const std::string& channel, const std::string& peer, bool allowed) {
    settings_[{peer, channel}] = {++latest_, allowed};
  }
  [[nodiscard]] bool empty() const { return settings_.empty(); }

  /// Collects the names of one peer.
  class Query {
   public:
    Query(const Permissions& of, const std::string& channel) : of_(of), channel_(channel) {}
    Query& name(const std::string& peer) {
      const auto found = of_.settings_.find({peer, channel_});
      if (found != of_.settings_.end() && found->second.order > best_.order) best_ = found->second;
      return *this;
    }
    /// None: there is no setting for this channel.
    [[nodiscard]] std::optional<bool> answer() {
      if (best_.order == 0) name({});
      return best_.order == 0 ? std::nullopt : std::optional(best_.allowed);
    }

   private:
    const Permissions& of_;
    const std::string& channel_;
    Setting best_;
  };

 private:
  std::map<std::pair<std::string, std::string>, Setting> settings_;  // (peer or "", channel)
  std::uint64_t latest_ = 0;
};

}  // namespace hyphos::transport::zmq
