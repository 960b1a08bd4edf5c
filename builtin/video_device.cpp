#include "builtin/video_device.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace hyphos::builtin {

int VideoCalls::open(const char* path) { return ::open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC); }

int VideoCalls::ioctl(int device, unsigned long request, void* argument) {
  int result = 0;
  do {
    result = ::ioctl(device, request, argument);
  } while (result < 0 && errno == EINTR);
  return result;
}

void* VideoCalls::map(int device, std::size_t size, off_t offset) {
  return ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, device, offset);
}

void VideoCalls::unmap(void* memory, std::size_t size) { ::munmap(memory, size); }

int VideoCalls::poll(pollfd* files, nfds_t count) { return ::poll(files, count, -1); }

void VideoCalls::close(int device) { ::close(device); }

}  // namespace hyphos::builtin
