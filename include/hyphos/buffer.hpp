#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "hyphos/export.hpp"

namespace hyphos {

/// Owns the memory behind a Buffer: a heap block, a shared-memory slot or a socket frame. The
/// references are counted within the process. `release()` runs once, in the thread that drops the
/// last reference.
class HYPHOS_EXPORT BufferOwner {
 public:
  BufferOwner() = default;
  BufferOwner(const BufferOwner&) = delete;
  BufferOwner& operator=(const BufferOwner&) = delete;

  void add_ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  void drop_ref() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) release();
  }
  /// True if the caller's reference is the only one. The result stays true only while the caller
  /// does not share its reference.
  [[nodiscard]] bool unique() const noexcept { return refs_.load(std::memory_order_acquire) == 1; }

  /// Identifies the kind of memory, so that a transport recognises its own memory and forwards it
  /// without a copy. The value is the address of a constant private to the implementation, or
  /// nullptr for ordinary memory.
  [[nodiscard]] virtual const void* kind() const noexcept { return nullptr; }

 protected:
  virtual ~BufferOwner() = default;
  /// Returns the memory to its source. Must not throw or block.
  virtual void release() noexcept = 0;
  /// Sets the count back to 1. For owners that are recycled, before the owner is used again.
  void reset_refs() noexcept { refs_.store(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::uint32_t> refs_{1};
};

namespace detail {

/// A type whose values are their bytes: std::uint8_t, float, a plain struct.
template <typename T>
concept PlainBytes =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_const_v<T>;

/// `bytes` as values of T. Empty if their number is no multiple of sizeof(T), or if they are not
/// aligned for T.
template <typename T, typename Byte>
[[nodiscard]] std::span<T> bytes_as(Byte* bytes, std::size_t size) noexcept {
  if (size % sizeof(T) != 0 || reinterpret_cast<std::uintptr_t>(bytes) % alignof(T) != 0) return {};
  return {reinterpret_cast<T*>(bytes), size / sizeof(T)};
}

}  // namespace detail

/// An immutable span of bytes that keeps its memory alive, wherever that memory is.
///
/// Copying a Buffer copies a pointer. A Buffer may outlive the callback, the subscription and the
/// publisher. A Buffer in shared memory occupies its slot until the last copy is gone, so keep it
/// only as long as you need it. Thread-safe like a shared_ptr: different threads may use different
/// copies.
class HYPHOS_EXPORT Buffer {
 public:
  Buffer() = default;
  /// Adopts one reference of `owner`. `owner` may be null for memory that is never freed.
  Buffer(const std::byte* data, std::size_t size, BufferOwner* owner) noexcept
      : data_(data), size_(size), owner_(owner) {}
  Buffer(const Buffer& other) noexcept
      : data_(other.data_), size_(other.size_), owner_(other.owner_) {
    if (owner_ != nullptr) owner_->add_ref();
  }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        owner_(std::exchange(other.owner_, nullptr)) {}
  Buffer& operator=(Buffer other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(owner_, other.owner_);
    return *this;
  }
  ~Buffer() {
    if (owner_ != nullptr) owner_->drop_ref();
  }

  /// Copies `bytes` to a new heap block. Allocates.
  [[nodiscard]] static Buffer copy_of(std::span<const std::byte> bytes);
  [[nodiscard]] static Buffer copy_of(std::string_view text);
  /// The same for values: `copy_of(std::span(pixels))` with a std::vector<std::uint8_t> or an array
  /// of floats.
  template <detail::PlainBytes T, std::size_t N>
    requires(!std::is_same_v<T, std::byte>)
  [[nodiscard]] static Buffer copy_of(std::span<T, N> values) {
    return copy_of(std::as_bytes(values));
  }
  template <detail::PlainBytes T, std::size_t N>
    requires(!std::is_same_v<T, std::byte>)
  [[nodiscard]] static Buffer copy_of(std::span<const T, N> values) {
    return copy_of(std::as_bytes(values));
  }
  /// Adopts a vector without copying its elements. Allocates the owner only.
  [[nodiscard]] static Buffer adopt(std::vector<std::byte> bytes);
  [[nodiscard]] static Buffer adopt(std::vector<std::uint8_t> bytes);

  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  /// The bytes as values of T, without a copy: `as<std::uint8_t>()`, `as<float>()`, `as<Point>()`.
  /// Valid as long as the buffer. Empty if the size is no multiple of sizeof(T), or if the bytes
  /// are not aligned for T. A whole payload is aligned to 64. Check the size first where the bytes
  /// come from others.
  template <detail::PlainBytes T>
  [[nodiscard]] std::span<const T> as() const noexcept {
    return detail::bytes_as<const T>(data_, size_);
  }
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(data_), size_};
  }
  /// Returns a part of the same memory, with the same owner. `offset + size` must be within this
  /// buffer.
  [[nodiscard]] Buffer slice(std::size_t offset, std::size_t size) const;
  [[nodiscard]] BufferOwner* owner() const noexcept { return owner_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  BufferOwner* owner_ = nullptr;
};

/// Memory on loan to one writer, to be filled and then frozen into a Buffer. Move-only. Destroying
/// it without freeze() returns the memory. The memory is not initialised.
class HYPHOS_EXPORT WritableBuffer {
 public:
  WritableBuffer() = default;
  /// Adopts the only reference of `owner`.
  WritableBuffer(std::byte* data, std::size_t size, BufferOwner* owner) noexcept
      : data_(data), buffer_(data, size, owner) {}
  WritableBuffer(WritableBuffer&&) noexcept = default;
  WritableBuffer& operator=(WritableBuffer&&) noexcept = default;
  WritableBuffer(const WritableBuffer&) = delete;
  WritableBuffer& operator=(const WritableBuffer&) = delete;
  ~WritableBuffer() = default;

  /// `size` uninitialised bytes on the heap, aligned to 64. Allocates.
  [[nodiscard]] static WritableBuffer on_heap(std::size_t size);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return buffer_.size(); }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, buffer_.size()}; }
  /// The memory as values of T, to be written. As Buffer::as(). The values are not initialised.
  template <detail::PlainBytes T>
  [[nodiscard]] std::span<T> as() const noexcept {
    return detail::bytes_as<T>(data_, buffer_.size());
  }
  [[nodiscard]] bool empty() const noexcept { return buffer_.empty(); }
  /// Ends the loan: the memory is immutable from now on. `size` may be less than the loan.
  [[nodiscard]] Buffer freeze(std::size_t size) && {
    data_ = nullptr;
    return size == buffer_.size() ? std::move(buffer_) : std::exchange(buffer_, {}).slice(0, size);
  }
  [[nodiscard]] Buffer freeze() && {
    const std::size_t all = buffer_.size();
    return std::move(*this).freeze(all);
  }

 private:
  std::byte* data_ = nullptr;
  Buffer buffer_;
};

}  // namespace hyphos
