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

/// Two mailboxes in memory that two processes share: one for requests, one for replies. Each holds
/// one message at a time. The memory has no name (memfd), so nothing remains when both processes
/// have ended.
///
///  L1  Only the engine writes the request area, and only while the worker owes it no reply. Only
///      the worker writes the reply area, and only between a request and its reply.
///  L2  A message is complete before its `turn` is incremented. `turn` counts messages and never
///      decreases.
///  L3  Nothing in the memory is trusted. Sizes are compared with the capacity that is known from
///      elsewhere, and a message is copied before it is read.
///
/// A receiver polls `turn` for some microseconds, and then sleeps until the sender wakes it.
class IpcChannel {
 public:
  enum class End { engine, worker };

  /// Creates memory with room for messages of `capacity` bytes in each direction. Pages are
  /// allocated on first use. Errors: exhausted, io.
  [[nodiscard]] static Result<IpcChannel> create(std::size_t capacity);
  /// Takes over the descriptor that this process received. Errors: corrupt, io.
  [[nodiscard]] static Result<IpcChannel> open(UniqueFd fd);
  /// The same memory for the other end, in a forked process.
  void become(End end) { end_ = end; }

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// Errors: exhausted if the message is larger than capacity(), corrupt if an unread reply
  /// has arrived, which belongs to no request.
  [[nodiscard]] Result<void> send(std::span<const std::byte> message);
  /// Waits for the next message and copies it into `message`. Every 20 ms, `check` (if given)
  /// decides whether to keep waiting: its error ends the wait. Errors: timeout, corrupt, the error
  /// of `check`.
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

  UniqueFd fd_;
  shm::Mapping mapping_;
  std::size_t capacity_ = 0;
  End end_ = End::engine;
  std::uint32_t received_ = 0;  // turn of the last message
};

}  // namespace hyphos::cosim
