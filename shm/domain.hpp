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

/// The directory in which the participants of one domain find each other, and its rules:
///
///  D1  A participant is alive exactly while its .ctl file carries its lock, which the kernel drops
///      when the process dies, however it dies. A stopped process holds it still.
///  D2  A file appears under its name complete, initialised and (the .ctl) locked: it is made
///  without
///      a name and then linked. There are no half-made files, and nothing to mistake for dead.
///  D3  Ids are 64 random bits and never come back, so removing the files of a dead id is right
///      whenever it happens, and harmless when two do it.
///  D4  Every file has its blocks before it is mapped, so that a full /dev/shm is an error at
///      creation and never a SIGBUS.
///  D5  The folder goes with the last who leaves it. The kernel removes no folder that holds a
///  file,
///      and puts no file into one that was removed; so whoever comes at that moment either finds
///      the folder gone when it links its .ctl, and begins again (Participant::create), or keeps
///      it.
namespace hyphos::shm {

class Domain {
 public:
  /// Opens `<base>/hyphos-<uid>/<name>`, making it if needed. Refuses a directory that somebody
  /// else owns or may enter.
  [[nodiscard]] static Result<Domain> open(const std::filesystem::path& base,
                                           const std::string& name);
  /// The same for those who only look: Code::not_found if there is none, and none is made.
  [[nodiscard]] static Result<Domain> find(const std::filesystem::path& base,
                                           const std::string& name);
  /// Removes the folder if it is empty (D5); true if so.
  bool remove_if_empty() const;
  /// The folder was removed after it was opened: nothing can be made in it any more.
  [[nodiscard]] bool removed() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// A file without a name, `size` zero bytes long, with all its blocks. Error::exhausted says how
  /// many bytes were needed and how many are free.
  [[nodiscard]] Result<Fd> create(std::uint64_t size, const std::string& wanted_name) const;
  /// Gives it its name.
  [[nodiscard]] Result<void> publish(const Fd& file, const std::string& file_name) const;
  [[nodiscard]] Result<Fd> open_file(const std::string& file_name, std::uint64_t& size,
                                     bool writable = true) const;
  void remove(const std::string& file_name) const;

  /// Every file name in the directory.
  [[nodiscard]] std::vector<std::string> files() const;
  /// The ids that have a .ctl file, alive or not.
  [[nodiscard]] std::vector<std::uint64_t> participants() const;
  /// True unless the .ctl file of `id` exists and is locked (D1).
  [[nodiscard]] bool is_dead(std::uint64_t id) const;
  /// Removes all files of `id`, the .ctl last; returns their names.
  std::vector<std::string> remove_all(std::uint64_t id) const;
  /// Removes the files of all the dead; returns their names. Never touches the living.
  std::vector<std::string> clean() const;

  /// This participant's end of the notices: a bound datagram socket.
  [[nodiscard]] Result<Fd> bind_socket(std::uint64_t id) const;
  /// Notifies one participant of a change. Never blocks; if that participant's buffer is full, it
  /// already has a notice.
  void notify(const Fd& socket, std::uint64_t id) const;

  /// Bytes free and bytes in all in the file system.
  struct Space {
    std::uint64_t free = 0;
    std::uint64_t total = 0;
  };
  [[nodiscard]] Space space() const;
  [[nodiscard]] static Space space_at(const std::filesystem::path& base);

 private:
  [[nodiscard]] static Result<Domain> open(const std::filesystem::path& base,
                                           const std::string& name, bool make);

  Fd home_;  ///< the folder of all domains of this user
  Fd directory_;
  std::string path_;
  std::string name_;
};

/// Takes the life-long lock; false if somebody has it.
[[nodiscard]] bool lock_for_life(const Fd& file);
/// True if some open file description holds it.
[[nodiscard]] bool is_locked(const Fd& file);
/// The participant that a file belongs to; 0 if the name is not one of ours.
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
