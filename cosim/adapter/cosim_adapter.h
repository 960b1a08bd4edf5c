/* The C interface of simulators that are made outside of Hyphos: a shared library with one
 * function,
 *
 *     const hyphos_cosim_simulator* hyphos_cosim_entry(void);
 *
 * All calls for one simulator come from one thread. Times are nanoseconds since the start of the
 * simulation; windows are half-open: advance(end) does what happens before `end`. Pointers that are
 * handed in hold during the call; those that are handed out, until the next call.
 * tests/cosim/conformance.hpp says what is expected of each function, and checks it. */
#ifndef HYPHOS_COSIM_ADAPTER_H
#define HYPHOS_COSIM_ADAPTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 2: a pose has an orientation and a turn, and physics may have steer(). */
#define HYPHOS_COSIM_ABI 2u
#define HYPHOS_COSIM_EVERYONE 0xffffffffu
#define HYPHOS_COSIM_NEVER INT64_MAX

/* What functions return. After anything but OK and UNSUPPORTED, error() says more; after
 * UNSUPPORTED it may. */
enum {
  HYPHOS_COSIM_OK = 0,
  HYPHOS_COSIM_FAILED = 1,
  HYPHOS_COSIM_INVALID = 2, /* options or arguments */
  HYPHOS_COSIM_PAST = 3,    /* an instant that is over */
  HYPHOS_COSIM_NO_NODE = 4,
  HYPHOS_COSIM_UNSUPPORTED = 5,
  /* Of what stands behind an adapter: */
  HYPHOS_COSIM_DISCONNECTED = 6,
  HYPHOS_COSIM_TIMEOUT = 7,
  HYPHOS_COSIM_CORRUPT = 8, /* it answers nonsense */
  /* Of steer(): done, but for what error() says. */
  HYPHOS_COSIM_IN_PART = 9
};

enum { HYPHOS_COSIM_NETWORK = 1, HYPHOS_COSIM_PHYSICS = 2 };

/* What became of a packet. */
enum {
  HYPHOS_COSIM_DELIVERED = 0,
  HYPHOS_COSIM_QUEUE_FULL = 1,
  HYPHOS_COSIM_OUT_OF_RANGE = 2,
  HYPHOS_COSIM_CHANNEL_ERROR = 3,
  HYPHOS_COSIM_COLLISION = 4,
  HYPHOS_COSIM_RETRY_LIMIT = 5,
  HYPHOS_COSIM_OTHER = 6
};

typedef struct {
  double position[3]; /* m, in the frame of the world */
  double velocity[3]; /* m/s, likewise */
  /* x, y, z, w, of length 1: it turns vectors of the robot's own frame (x ahead, y left, z up) into
   * the world's. All 0: the simulator does not say; poses() is handed zeros to fill. */
  double orientation[4];
  double turn[3]; /* rad/s, about the axes of the robot's own frame */
} hyphos_cosim_pose;

/* What a robot is told to do until it is told something else: x ahead, y left, z up, in its own
 * frame but that z is the world's. */
typedef struct {
  double velocity[3]; /* m/s */
  double turn;        /* rad/s about z */
} hyphos_cosim_motion;

typedef struct {
  uint64_t id;
  uint32_t from;
  uint32_t to; /* or EVERYONE */
  int64_t stamp_ns;
  const uint8_t* bytes;
  uint64_t size;
} hyphos_cosim_packet;

typedef struct {
  uint64_t id;
  uint32_t to;     /* EVERYONE: `copies` receivers of a packet to everyone, all dropped alike */
  uint32_t copies; /* otherwise 1 */
  int64_t time_ns;
  uint32_t fate; /* DELIVERED or why not */
  uint32_t reserved;
  const uint8_t* bytes; /* of what was delivered: those that were sent */
  uint64_t size;
  int64_t sampled_ns; /* when the channel was looked at, or NEVER */
  double power_dbm;   /* then */
} hyphos_cosim_outcome;

typedef struct {
  uint32_t abi;  /* HYPHOS_COSIM_ABI */
  uint32_t kind; /* HYPHOS_COSIM_NETWORK or _PHYSICS */

  /* A simulator, or NULL if `options` are wrong. */
  void* (*open)(const char* options);
  void (*close)(void* self);
  /* Of the last call that failed. */
  const char* (*error)(void* self);
  int (*init)(void* self, uint32_t nodes, uint64_t seed);
  int (*advance)(void* self, int64_t end_ns);
  int64_t (*next_event_time)(void* self);

  /* Networks. */
  int (*set_poses)(void* self, const hyphos_cosim_pose* poses, uint32_t count);
  int (*inject)(void* self, const hyphos_cosim_packet* packet);
  /* 1: one outcome; 0: there is no other; negative: -HYPHOS_COSIM_... */
  int (*poll)(void* self, hyphos_cosim_outcome* outcome);

  /* Physics. */
  int (*poses)(void* self, hyphos_cosim_pose* poses, uint32_t count);
  /* From the end of the last advance on, a robot follows `motion` instead of what it did before.
   * Where it is does not change by that. May be NULL: robots cannot be steered. */
  int (*steer)(void* self, uint32_t robot, const hyphos_cosim_motion* motion);

  /* May be NULL. save() returns the size of the state, and writes it if `capacity` is enough;
   * negative: -HYPHOS_COSIM_... */
  int64_t (*save)(void* self, uint8_t* state, uint64_t capacity);
  int (*restore)(void* self, const uint8_t* state, uint64_t size);
} hyphos_cosim_simulator;

#ifdef __cplusplus
}
#endif

#endif
