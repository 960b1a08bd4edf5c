#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>

#include "hyphos/buffer.hpp"
#include "hyphos/envelope.hpp"

namespace hyphos::python {

namespace nb = nanobind;

/// hyphos::WritableBuffer for Python: loaned, then frozen. It stays readable after that.
class Loaned {
 public:
  explicit Loaned(WritableBuffer memory) : data_(memory.data()), memory_(std::move(memory)) {
    size_ = memory_->size();
  }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool frozen() const { return !memory_.has_value(); }
  /// The loan as an immutable buffer. Every call returns the same one.
  Buffer freeze() {
    if (memory_) {
      frozen_ = std::move(*memory_).freeze();
      memory_.reset();
    }
    return frozen_;
  }

 private:
  std::byte* data_;
  std::size_t size_ = 0;
  std::optional<WritableBuffer> memory_;
  Buffer frozen_;
};

using Lend = std::function<WritableBuffer(std::size_t)>;

/// The bytes of any Python object as a Buffer.
///
/// Makes no copy if the object is a received or loaned buffer, or a contiguous view of one.
/// Otherwise copies once into memory from `lend`. Large copies release the GIL. Throws TypeError
/// for objects without the buffer protocol.
Buffer to_buffer(nb::handle object, const Lend& lend);

void bind_bytes(nb::module_& module);

}  // namespace hyphos::python
