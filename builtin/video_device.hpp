#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstddef>

namespace hyphos::builtin {

/// The system calls of a video device, so that tests can stand in for the kernel. Each has the
/// result and the errno of the call with its name.
class VideoCalls {
 public:
  VideoCalls() = default;
  VideoCalls(const VideoCalls&) = delete;
  VideoCalls& operator=(const VideoCalls&) = delete;
  virtual ~VideoCalls() = default;

  virtual int open(const char* path);
  virtual int ioctl(int device, unsigned long request, void* argument);
  virtual void* map(int device, std::size_t size, off_t offset);
  virtual void unmap(void* memory, std::size_t size);
  virtual int poll(pollfd* files, nfds_t count);
  virtual void close(int device);
};

}  // namespace hyphos::builtin
