#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hyphos/result.hpp"
#include "shm/layout.hpp"
#include "shm/os.hpp"

/// The directory in which the participants of one domain find each other, and its invariants:
///
///  D1  A participant is alive exactly while its .ctl file carries its lock. The kernel drops the
///      lock when the process dies, for any reason. A stopped process still holds it.
///  D2  A file appears under its name only when it is complete, initialised and (the .ctl) locked:
///      it is created without a name and then linked. So there are no partial files that could be
///      mistaken for those of a dead participant.
///  D3  Ids are 64 random bits and are never reused. So the files of a dead id may be removed at
///      any time, also by two processes at once.
///  D4  The blocks of every file are allocated before it is mapped. So a full /dev/shm is an error
///      at creation and never a SIGBUS.
///  D5  The last participant that leaves removes the folder. The kernel removes no folder that
///      holds a file, and creates no file in a removed folder. A participant that arrives at that
///      moment has two outcomes. Either it finds the folder gone when it links its .ctl, and starts
///      over (Participant::create), or its file keeps the folder in place.
namespace hyphos::shm {

class Domain {
 public:
  /// Opens `<base>/hyphos-<uid>/<name>`, and creates it if needed. Refuses a directory that another
  /// user owns or may enter.
  [[nodiscard]] static Result<Domain> open(const std::filesystem::path& base,
                                           const std::string& name);
  /// The same for read-only use: Code::not_found if it does not exist. Creates nothing.
  [[nodiscard]] static Result<Domain> find(const std::filesystem::path& base,
                                           const std::string& name);
  /// Removes the folder if it is empty (D5). True if it did.
  bool remove_if_empty() const;
  /// True if the folder was removed after it was opened. Then no file can be created in it.
  [[nodiscard]] bool removed() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// A file without a name, of `size` zero bytes, with all its blocks allocated. Error::exhausted
  /// names the bytes needed and the bytes free.
  [[nodiscard]] Result<UniqueFd> create(std::uint64_t size, const std::string& wanted_name) const;
  /// Links the file under its name.
  [[nodiscard]] Result<void> publish(const UniqueFd& file, const std::string& file_name) const;
  [[nodiscard]] Result<UniqueFd> open_file(const std::string& file_name, std::uint64_t& size,
                                           bool writable = true) const;
  void remove(const std::string& file_name) const;

  /// Every file name in the directory.
  [[nodiscard]] std::vector<std::string> files() const;
  /// The ids that have a .ctl file, alive or not.
  [[nodiscard]] std::vector<std::uint64_t> participants() const;
  /// True unless the .ctl file of `id` exists and is locked (D1).
  [[nodiscard]] bool is_dead(std::uint64_t id) const;
  /// Removes all files of `id`, the .ctl last. Returns their names.
  std::vector<std::string> remove_all(std::uint64_t id) const;
  /// Removes the files of all dead participants. Returns their names. Never removes files of live
  /// participants.
  std::vector<std::string> clean() const;

  /// This participant's socket for notices: a bound datagram socket.
  [[nodiscard]] Result<UniqueFd> bind_socket(std::uint64_t id) const;
  /// Notifies one participant of a change. Never blocks. If that participant's buffer is full, it
  /// already has a notice.
  void notify(const UniqueFd& socket, std::uint64_t id) const;

  /// Free and total bytes of the file system.
  struct Space {
    std::uint64_t free = 0;
    std::uint64_t total = 0;
  };
  [[nodiscard]] Space space() const;
  [[nodiscard]] static Space space_at(const std::filesystem::path& base);

 private:
  [[nodiscard]] static Result<Domain> open(const std::filesystem::path& base,
                                           const std::string& name, bool make);

  UniqueFd home_;  ///< the folder of all domains of this user
  UniqueFd directory_;
  std::string path_;
  std::string name_;
};

/// Attempts if another participant removes the domain meanwhile. Each needs a participant that
/// leaves exactly between two steps of this one.
inline constexpr int kEntryAttempts = 1000;

/// Takes the lifetime lock. False if another process holds it.
[[nodiscard]] bool lock_for_life(const UniqueFd& file);
/// True if some open file description holds it.
[[nodiscard]] bool is_locked(const UniqueFd& file);
/// The participant that owns a file. 0 if the name is not in the Hyphos format.
[[nodiscard]] std::uint64_t owner_of(std::string_view file_name);

[[nodiscard]] inline std::string control_name(std::uint64_t id) { return to_hex(id) + ".ctl"; }
[[nodiscard]] inline std::string socket_name(std::uint64_t id) { return to_hex(id) + ".sock"; }
[[nodiscard]] inline std::string metrics_name(std::uint64_t id) { return to_hex(id) + ".metrics"; }
[[nodiscard]] inline std::string pool_name(std::uint64_t id, std::uint32_t number) {
  return to_hex(id) + "." + std::to_string(number) + ".pool";
}
[[nodiscard]] inline std::string ring_name(std::uint64_t id, std::uint64_t serial) {
  return to_hex(id) + "." + std::to_string(serial) + ".lane";
}
/// The domains of this user below `base`.
[[nodiscard]] std::vector<std::string> domains(const std::filesystem::path& base);

}  // namespace hyphos::shm
