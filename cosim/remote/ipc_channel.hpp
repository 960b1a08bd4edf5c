#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hyphos/result.hpp"
#include "hyphos/time.hpp"
#include "shm/os.hpp"

namespace hyphos::cosim {

/// Two mailboxes in memory that two processes share: one for requests, one for answers, each with
/// one message at a time. Memory without a name (memfd): nothing is left when both are gone.
///
///  L1  Only the engine writes the request area, and only while the worker owes it no answer; only
///      the worker writes the answer area, and only between a request and its answer.
///  L2  A message is complete before its `turn` goes up. `turn` counts messages and never goes
///  back. L3  Nothing in the memory is believed: sizes are compared with the capacity that is known
///  from
///      elsewhere, and a message is copied out before it is read.
///
/// A receiver looks at `turn` for some microseconds, and then sleeps until the sender rings.
class IpcChannel {
 public:
  enum class End { engine, worker };

  /// New memory with room for messages of `capacity` bytes each way; pages are taken as they are
  /// used. Errors: exhausted, io.
  [[nodiscard]] static Result<IpcChannel> create(std::size_t capacity);
  /// Takes over the descriptor that another process was given. Errors: corrupt, io.
  [[nodiscard]] static Result<IpcChannel> open(shm::Fd fd);
  /// The same memory for the other end, in a forked process.
  void become(End end) { end_ = end; }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// Errors: exhausted if the message is larger than capacity().
  [[nodiscard]] Result<void> send(std::span<const std::byte> message);
  /// Waits for the next message and copies it into `message`. `check`, if there is one, is asked
  /// every 20 ms whether waiting is still of use; its error ends the wait. Errors: timeout,
  /// corrupt, that of `check`.
  [[nodiscard]] Result<void> receive(std::vector<std::byte>& message, Time deadline,
                                     const std::function<Result<void>()>& check);

 private:
  struct Mailbox {
    alignas(64) std::atomic<std::uint32_t> turn;
    std::atomic<std::uint32_t> sleeping;
    std::atomic<std::uint32_t> size;
  };
  struct Header {
    std::uint64_t magic;
    std::uint64_t capacity;
    Mailbox request;
    Mailbox answer;
  };

  IpcChannel() = default;
  [[nodiscard]] static std::size_t size_for(std::size_t capacity);
  [[nodiscard]] Header& header() const { return *reinterpret_cast<Header*>(mapping_.data()); }
  [[nodiscard]] Mailbox& outgoing() const;
  [[nodiscard]] Mailbox& incoming() const;
  [[nodiscard]] std::byte* area(End of_writer) const;

  shm::Fd fd_;
  shm::Mapping mapping_;
  std::size_t capacity_ = 0;
  End end_ = End::engine;
  std::uint32_t received_ = 0;  // turn of the last message
};

}  // namespace hyphos::cosim
