#include "hyphos/buffer.hpp"

#include <cassert>
#include <cstring>
#include <memory>
#include <new>

namespace hyphos {
namespace {

constexpr std::size_t kAlignment = 64;

class HeapOwner final : public BufferOwner {
 public:
  static HeapOwner* make(std::size_t size) {
    void* memory = ::operator new(sizeof(HeapOwner) + size, std::align_val_t{kAlignment});
    return ::new (memory) HeapOwner();
  }
  std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }

 protected:
  void release() noexcept override {
    this->~HeapOwner();
    ::operator delete(this, std::align_val_t{kAlignment});
  }

 private:
  // Padded to the alignment, so that the bytes after the owner are aligned as well.
  alignas(kAlignment) std::byte pad_[1];
};

template <typename Byte>
class VectorOwner final : public BufferOwner {
 public:
  explicit VectorOwner(std::vector<Byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::as_bytes(std::span(bytes_));
  }

 protected:
  void release() noexcept override { delete this; }

 private:
  std::vector<Byte> bytes_;
};

template <typename Byte>
Buffer adopt_vector(std::vector<Byte> bytes) {
  auto* owner = new VectorOwner<Byte>(std::move(bytes));
  return {owner->bytes().data(), owner->bytes().size(), owner};
}

}  // namespace

Buffer Buffer::copy_of(std::span<const std::byte> bytes) {
  WritableBuffer copy = WritableBuffer::on_heap(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return std::move(copy).freeze();
}

Buffer Buffer::copy_of(std::string_view text) {
  return copy_of(std::as_bytes(std::span(text.data(), text.size())));
}

Buffer Buffer::adopt(std::vector<std::byte> bytes) { return adopt_vector(std::move(bytes)); }
Buffer Buffer::adopt(std::vector<std::uint8_t> bytes) { return adopt_vector(std::move(bytes)); }

Buffer Buffer::slice(std::size_t offset, std::size_t size) const {
  assert(offset <= size_ && size <= size_ - offset);
  if (owner_ != nullptr) owner_->add_ref();
  return {data_ + offset, size, owner_};
}

WritableBuffer WritableBuffer::on_heap(std::size_t size) {
  HeapOwner* owner = HeapOwner::make(size);
  return {owner->data(), size, owner};
}

}  // namespace hyphos
