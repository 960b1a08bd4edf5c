/* The C interface for simulators that are built outside Hyphos. A simulator is a shared library
 * with one function:
 *
 *     const hyphos_cosim_simulator* hyphos_cosim_entry(void);
 *
 * Threads: Hyphos makes all calls for one simulator from one thread. Units: all times are
 * nanoseconds since the start of the simulation. Windows are half-open: advance(end) processes the
 * events before `end`. Lifetime: a pointer passed to a function is valid during that call. A
 * pointer returned by a function stays valid until the next call. tests/cosim/conformance.hpp
 * specifies and checks the contract of each function. */
#ifndef HYPHOS_COSIM_ADAPTER_H
#define HYPHOS_COSIM_ADAPTER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version 2 added orientation and turn to poses, and the optional function steer(). Version 3 added
 * the optional function sense() at the end. Version 4 added the optional function look() after it,
 * and the parts of a delay at the end of outcomes. Hyphos loads all of them. */
#define HYPHOS_COSIM_ABI 4u
#define HYPHOS_COSIM_OLDEST_ABI 2u
#define HYPHOS_COSIM_EVERYONE 0xffffffffu
#define HYPHOS_COSIM_NEVER INT64_MAX

/* Return codes. error() explains every code except OK and UNSUPPORTED. After UNSUPPORTED it may be
 * empty. */
enum {
  HYPHOS_COSIM_OK = 0,
  HYPHOS_COSIM_FAILED = 1,
  HYPHOS_COSIM_INVALID = 2, /* options or arguments */
  HYPHOS_COSIM_PAST = 3,    /* the time is in the past */
  HYPHOS_COSIM_NO_NODE = 4,
  HYPHOS_COSIM_UNSUPPORTED = 5,
  /* Errors of the simulator behind an adapter: */
  HYPHOS_COSIM_DISCONNECTED = 6,
  HYPHOS_COSIM_TIMEOUT = 7,
  HYPHOS_COSIM_CORRUPT = 8, /* its reply is invalid */
  /* steer() only: the command is applied, except for the part that error() names. */
  HYPHOS_COSIM_IN_PART = 9
};

enum { HYPHOS_COSIM_NETWORK = 1, HYPHOS_COSIM_PHYSICS = 2 };

/* The outcome of a packet. */
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
  double position[3]; /* m, in the world frame */
  double velocity[3]; /* m/s, in the world frame */
  /* x, y, z, w of a unit quaternion. It rotates vectors of the robot frame (x forward, y left, z
   * up) into the world frame. All zeros mean that the simulator does not report an orientation. The
   * array passed to poses() is filled with zeros. */
  double orientation[4];
  double turn[3]; /* rad/s, about the axes of the robot frame */
} hyphos_cosim_pose;

/* The command of a robot until the next command: x forward, y left, z up in the robot frame, except
 * that z is the world's z axis. */
typedef struct {
  double velocity[3]; /* m/s */
  double turn;        /* rad/s about z */
} hyphos_cosim_motion;

enum { HYPHOS_COSIM_FELT = 1, HYPHOS_COSIM_RAYS = 2 };

/* A question to a sensor of a robot, at the end of the last advance. */
typedef struct {
  uint32_t kind;
  uint32_t count;           /* RAYS: of rays */
  double mount[3];          /* RAYS: their origin in the robot frame, m */
  double range;             /* RAYS: m */
  const double* directions; /* RAYS: three for each ray, unit vectors in the robot frame */
} hyphos_cosim_query;

/* A camera of a robot at the end of the last advance. Pixels are square, and the optical axis is
 * the centre of the picture. */
typedef struct {
  double mount[3]; /* in the robot frame, m */
  double
      rotation[4]; /* x, y, z, w: of the camera in the robot frame, its x axis is the optical one */
  uint32_t width;
  uint32_t height;
  double focal;   /* pixels */
  double nearest; /* m */
  double range;   /* m */
} hyphos_cosim_view;

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
  uint32_t to;     /* EVERYONE: one outcome for `copies` receivers, all dropped for this reason */
  uint32_t copies; /* 1 unless `to` is EVERYONE */
  int64_t time_ns;
  uint32_t fate; /* DELIVERED or the reason of the drop */
  uint32_t reserved;
  const uint8_t* bytes; /* the payload, if delivered */
  uint64_t size;
  int64_t sampled_ns; /* when the channel was sampled, or NEVER */
  double power_dbm;   /* at sampled_ns */
  /* Since version 4, of a delivered packet, from its stamp on: processing, queueing,
   * retransmission, transmission, propagation. They add up to time_ns minus the stamp. */
  uint32_t has_parts; /* 0: not reported */
  uint32_t reserved2;
  int64_t parts_ns[5];
} hyphos_cosim_outcome;

typedef struct {
  uint32_t abi;  /* HYPHOS_COSIM_ABI */
  uint32_t kind; /* HYPHOS_COSIM_NETWORK or _PHYSICS */

  /* Returns a simulator, or NULL if `options` are wrong. */
  void* (*open)(const char* options);
  void (*close)(void* self);
  /* The error text of the last call that failed. */
  const char* (*error)(void* self);
  int (*init)(void* self, uint32_t nodes, uint64_t seed);
  int (*advance)(void* self, int64_t end_ns);
  int64_t (*next_event_time)(void* self);

  /* Networks. */
  int (*set_poses)(void* self, const hyphos_cosim_pose* poses, uint32_t count);
  int (*inject)(void* self, const hyphos_cosim_packet* packet);
  /* Returns 1 for one outcome, 0 if no outcome is left, or a negative -HYPHOS_COSIM_... code. */
  int (*poll)(void* self, hyphos_cosim_outcome* outcome);

  /* Physics. */
  int (*poses)(void* self, hyphos_cosim_pose* poses, uint32_t count);
  /* Sets the motion of a robot from the end of the last advance on. The current pose does not
   * change. NULL means that robots cannot be steered. */
  int (*steer)(void* self, uint32_t robot, const hyphos_cosim_motion* motion);

  /* save() and restore() may be NULL. save() returns the size of the state. It writes the state if
   * `capacity` is large enough. A negative value is a -HYPHOS_COSIM_... code. */
  int64_t (*save)(void* self, uint8_t* state, uint64_t capacity);
  int (*restore)(void* self, const uint8_t* state, uint64_t size);

  /* Since version 3, physics only, may be NULL. FELT writes the three components of the specific
   * force at the origin of the robot, in its frame, m/s^2: 9.81 along z at rest. RAYS writes the
   * distance to the first thing on each ray, other robots included, or infinity. */
  int (*sense)(void* self, uint32_t robot, const hyphos_cosim_query* query, double* values);
  /* Since version 4, physics only, may be NULL. Writes the rows of a picture from the top: three
   * bytes (red, green, blue) for each pixel and, unless `depth` is NULL, metres along the optical
   * axis, or infinity. The robot itself is not in the picture. */
  int (*look)(void* self, uint32_t robot, const hyphos_cosim_view* view, uint8_t* rgb,
              float* depth);
} hyphos_cosim_simulator;

#ifdef __cplusplus
}
#endif

#endif
