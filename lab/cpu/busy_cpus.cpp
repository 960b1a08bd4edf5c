// Keeps the processors that it may use from sleeping: a loop on each processor, which yields to
// every other task. A sleeping processor needs some microseconds to wake up. In a virtual machine
// it may need as long as the host decides. The program ends at the end of its input.
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace {

void rest_a_little() {
#if defined(__x86_64__)
  __builtin_ia32_pause();  // leaves the core to its other hardware thread
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Pins the thread to the processor, and runs it only while no other task needs the processor.
bool stay_on(int processor) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(processor, &only);
  const sched_param none{};
  return ::sched_setaffinity(0, sizeof only, &only) == 0 &&
         ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
}

}  // namespace

int main() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    std::perror("hyphos-lab-busy-cpus: sched_getaffinity");
    return 1;
  }
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &allowed)) continue;
    std::thread([processor] {
      if (!stay_on(processor)) {
        std::perror("hyphos-lab-busy-cpus: cannot bind a thread with idle priority");
        ::_exit(1);
      }
      for (;;) rest_a_little();
    }).detach();
  }
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  ::_exit(0);
}
