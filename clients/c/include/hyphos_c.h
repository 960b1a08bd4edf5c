#ifndef HYPHOS_C_H
#define HYPHOS_C_H

/* The C interface of Hyphos. Clients in other languages are built on this interface
 * (docs/how-to/client_c.md).
 *
 * The interface is stable. A program built against this header runs with every later
 * libhyphos_c.so.0.
 *
 * Text is UTF-8 with a terminating zero. Handles are opaque. The comment on each handle or on its
 * open function names the function that ends the handle. In a struct with `struct_size`, the caller
 * sets `struct_size` to sizeof the struct. The caller leaves a field zero to get the default. Later
 * versions only append fields, and the library detects missing fields by the size. All other
 * structs keep their layout as long as HYPHOS_ABI is the same.
 *
 * A function that can fail returns HYPHOS_OK (0) or an error code, and writes the details to
 * `error`. `error` is storage of the caller and may be NULL. Output arguments are set only on
 * success, unless the function documents an exception. No function throws. A NULL handle is an
 * error, not a crash.
 *
 * Threads: every function may be called from any thread at any time, unless its comment restricts
 * this. The caller must not use a handle while another thread ends the handle. No function may be
 * called from a signal handler. */

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define HYPHOS_API __attribute__((visibility("default")))
#else
#define HYPHOS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define HYPHOS_ABI 1

/* The ABI of the library, for comparison with HYPHOS_ABI, and its version, for example "0.1.0". */
HYPHOS_API int32_t hyphos_abi(void);
HYPHOS_API const char* hyphos_version(void);

/* --- Errors ------------------------------------------------------------------------------- */

/* The result of a function. hyphos_code_name() gives its name. */
typedef int32_t hyphos_code;
enum {
  HYPHOS_OK = 0,
  HYPHOS_INVALID_CONFIG = 1, /* an argument, file or plan is wrong */
  HYPHOS_NOT_FOUND = 2,
  HYPHOS_ALREADY_EXISTS = 3,
  HYPHOS_TYPE_MISMATCH = 4, /* the two sides of a channel use different types */
  HYPHOS_TIMEOUT = 5,
  HYPHOS_OVERLOADED = 6, /* a bounded queue or pool is full */
  HYPHOS_DISCONNECTED = 7,
  HYPHOS_EXHAUSTED = 8, /* disk, /dev/shm, memory or file descriptors are exhausted */
  HYPHOS_PERMISSION = 9,
  HYPHOS_CORRUPT = 10,
  HYPHOS_UNSUPPORTED = 11,
  HYPHOS_IO = 12,
  HYPHOS_CANCELED = 13,
  HYPHOS_OUT_OF_RANGE = 14,
  HYPHOS_TOO_LARGE = 15
};

/* Longer texts are cut at a character boundary. */
typedef struct hyphos_error {
  hyphos_code code;
  char message[1020]; /* the fault and the correct value */
  char where[512];    /* file and line, channel or path, may be empty */
  char advice[256];   /* the remedy for the caller */
} hyphos_error;

/* The name of a code, for example "type_mismatch". NULL for an unknown code. */
HYPHOS_API const char* hyphos_code_name(hyphos_code code);

/* --- Bytes -------------------------------------------------------------------------------- */

/* A range of bytes. The function that takes or gives it states its lifetime. */
typedef struct hyphos_bytes {
  const void* data;
  uint64_t size;
} hyphos_bytes;

#define HYPHOS_MAX_BUFFERS 8

/* A received message, read in place. A message from another process of this machine is in shared
 * memory. The message is valid until its callback returns. A held message is valid until
 * hyphos_message_release(). A held message occupies its slot, so holding many messages blocks the
 * sender. */
typedef struct hyphos_message {
  hyphos_bytes payload;
  hyphos_bytes buffers[HYPHOS_MAX_BUFFERS]; /* attached: pixels, points */
  uint32_t buffer_count;
  int32_t replayed;     /* 1: a latched value, replayed to a late subscriber */
  uint64_t sequence;    /* per sender, from 1 */
  uint64_t sender;      /* unique over all machines */
  int64_t published_ns; /* CLOCK_MONOTONIC of this machine, as are all stamps */
  int64_t arrived_ns;   /* arrival in this process. 0: sent here */
  void* block;          /* owned by the library */
} hyphos_message;

/* Keeps `message` beyond its callback, in `held`. Both may be the same struct. Does not copy the
 * payload and does not allocate. */
HYPHOS_API hyphos_code hyphos_message_hold(const hyphos_message* message, hyphos_message* held,
                                           hyphos_error* error);
/* Releases a message from hyphos_message_hold(), hyphos_take() or hyphos_call(), and sets the
 * struct to zeros. Has no effect on a struct of zeros. Any thread may call this function. */
HYPHOS_API void hyphos_message_release(hyphos_message* message);

/* --- Nodes -------------------------------------------------------------------------------- */

/* A node of this process: a named owner of endpoints. hyphos_node_close() ends the handle. */
typedef struct hyphos_node hyphos_node;

/* Options of hyphos_node_open(). */
typedef struct hyphos_node_options {
  uint64_t struct_size;
  const char* plan_file; /* robot.yaml. NULL: no plan, shared memory and defaults */
  const char* process;   /* the process of the plan. NULL: "main" */
  const char* domain;    /* separates robots on one machine. NULL: from the plan, or the default */
  const char* const* overrides; /* "channels.scan.depth=3", as `--set` on the command line */
  uint64_t override_count;
  int32_t threads; /* pool size. 0: from the plan, or one per core */
  int32_t offline; /* 1: no transports, everything stays in this process */
} hyphos_node_options;

/* Opens a process of the robot with one node. `options` may be NULL. hyphos_node_close() ends the
 * handle. */
HYPHOS_API hyphos_code hyphos_node_open(const char* name, const hyphos_node_options* options,
                                        hyphos_node** node, hyphos_error* error);
/* The same, from the arguments that `hyphos run` passes (--hyphos-...). Other arguments are
 * ignored. */
HYPHOS_API hyphos_code hyphos_node_open_args(const char* name, int32_t argc, char* const* argv,
                                             hyphos_node** node, hyphos_error* error);
/* Opens another node in the process of `node`. `node` may be closed before the other node. */
HYPHOS_API hyphos_code hyphos_node_beside(hyphos_node* node, const char* name, hyphos_node** other,
                                          hyphos_error* error);
/* Closes the publishers, subscriptions, services and clients of the node, and ends the handle.
 * Waits for running callbacks. Also waits up to a second for calls of other threads into endpoints
 * of the node. Later calls into these endpoints return `disconnected`. Each service call in flight
 * ends with `disconnected`. The callbacks of asynchronous calls run inside this function. Handles
 * of endpoints stay valid, and the caller must still close each one. Held messages stay readable.
 * Must not be called from a callback. */
HYPHOS_API void hyphos_node_close(hyphos_node* node);

/* The places at which a channel is open: between endpoints of this process, and between this
 * process and others. */
typedef int32_t hyphos_where;
enum {
  HYPHOS_NOWHERE = 0,
  HYPHOS_INSIDE = 1,
  HYPHOS_OUTSIDE = 2,
  HYPHOS_BOTH = 3 /* HYPHOS_INSIDE | HYPHOS_OUTSIDE */
};

/* Opens (`open` is not 0) or closes a channel of the node's process at `where`. The other place
 * stays as it is. `peer` is NULL, or the process or endpoint towards which alone the channel is
 * opened or closed. `where` is then HYPHOS_OUTSIDE. Fails with `not_found` if the process has no
 * such channel or peer. */
HYPHOS_API hyphos_code hyphos_set_channel_open(hyphos_node* node, const char* channel, int32_t open,
                                               hyphos_where where, const char* peer,
                                               hyphos_error* error);
/* Opens a channel at `where` only, in one step: each message passes at the places before the call,
 * or at those after it. */
HYPHOS_API hyphos_code hyphos_open_channel_only(hyphos_node* node, const char* channel,
                                                hyphos_where where, hyphos_error* error);
/* Sets `where` to the places at which the channel is open now. */
HYPHOS_API hyphos_code hyphos_channel_open(const hyphos_node* node, const char* channel,
                                           hyphos_where* where, hyphos_error* error);

/* Reports to a supervisor that the set-up is complete. */
HYPHOS_API hyphos_code hyphos_node_ready(hyphos_node* node, hyphos_error* error);
/* Nanoseconds since 1970, or simulation time if the plan selects it. 0 if `node` is NULL. */
HYPHOS_API int64_t hyphos_now(const hyphos_node* node);
/* CLOCK_MONOTONIC in nanoseconds, the clock of all stamps. */
HYPHOS_API int64_t hyphos_monotonic_now(void);

/* The severity of a log line. No level ends the program. */
enum { HYPHOS_DEBUG = 0, HYPHOS_INFO = 1, HYPHOS_WARN = 2, HYPHOS_ERROR = 3, HYPHOS_FATAL = 4 };
/* Writes a log line, to stderr and to `hyphos log`. */
HYPHOS_API hyphos_code hyphos_log(hyphos_node* node, int32_t level, const char* text,
                                  hyphos_error* error);

/* --- Callbacks in a thread of the caller ---------------------------------------------------- */

/* Runs waiting callbacks of HYPHOS_POLLED endpoints in the calling thread. Runs only callbacks for
 * messages that arrived before the call, and at most `most` of them (0: all). If no callback waits,
 * blocks for up to `timeout_ns` until one does (0: does not block, negative: no limit). Sets `ran`,
 * which may be NULL. Only one thread may poll a node at a time. A second thread, or a callback,
 * gets `already_exists`. */
HYPHOS_API hyphos_code hyphos_poll(hyphos_node* node, int64_t timeout_ns, uint32_t most,
                                   uint32_t* ran, hyphos_error* error);
/* Ends the wait of the current hyphos_poll(), or of the next one. */
HYPHOS_API void hyphos_wake(hyphos_node* node);
/* A file descriptor for event loops. It is readable while hyphos_poll() has work. The node owns the
 * descriptor: the caller must not read, write or close it. -1 if there is none. */
HYPHOS_API int32_t hyphos_poll_fd(hyphos_node* node);

/* --- Types and policies --------------------------------------------------------------------- */

/* The form of a payload. */
enum {
  HYPHOS_STRUCTURE = 0, /* the bytes of a struct of size `bytes`, little endian */
  HYPHOS_BYTES = 1,     /* raw bytes, the name is "bytes" */
  HYPHOS_PROTOBUF = 2,
  HYPHOS_ATTACHED = 3, /* a protobuf head, with separate buffers */
  HYPHOS_CUSTOM = 4
};

/* The type of a channel's messages. Both sides must use the same name, encoding and, for structs,
 * size. */
typedef struct hyphos_type {
  const char* name; /* "hyphos.msgs.LaserScan", NULL with HYPHOS_BYTES */
  uint64_t bytes;   /* HYPHOS_STRUCTURE: sizeof the struct, else 0 */
  int32_t encoding;
  int32_t reserved; /* 0 */
} hyphos_type;

/* Announces message types, so that tools show the fields of channels that use these types.
 * `descriptors` is a serialized google.protobuf.FileDescriptorSet: the .proto files of the types
 * with their imports, as `protoc --include_imports -o` writes them. Files of Hyphos and of protobuf
 * itself, and files that this process has announced, are left out. Fails with `corrupt` if the
 * bytes are no such set, and with `exhausted` beyond 4 MiB for one process. */
HYPHOS_API hyphos_code hyphos_announce_types(hyphos_node* node, const void* descriptors,
                                             size_t size, hyphos_error* error);

/* The guarantee of a channel. Reliable: delivered, or an error at the publisher. */
enum { HYPHOS_BEST_EFFORT = 0, HYPHOS_RELIABLE = 1 };
/* The reaction of a full queue. */
enum {
  HYPHOS_OVERFLOW_IMPLIED = 0, /* block if reliable, else drop the oldest */
  HYPHOS_DROP_OLDEST = 1,
  HYPHOS_DROP_NEWEST = 2,
  HYPHOS_BLOCK = 3
};
/* The order in which free threads take callbacks: high, normal, low. */
enum { HYPHOS_NORMAL = 0, HYPHOS_LOW = 1, HYPHOS_HIGH = 2 };

/* Applies to channels that the plan does not name. For the others, the plan sets the policy. */
typedef struct hyphos_policy {
  uint64_t struct_size;
  int32_t reliability;
  int32_t overflow;
  int32_t priority;
  int32_t latched;          /* 1: a late subscriber gets the last message at once */
  uint32_t depth;           /* capacity of each queue in messages, up to 65536. 0: 10 */
  uint32_t reserved;        /* 0 */
  int64_t deadline_ms;      /* counts `deadline_missed` after this time without a message. 0: off */
  int64_t block_timeout_ms; /* with HYPHOS_BLOCK. 0: waits without limit */
  int64_t lifespan_ms;      /* an older message is dropped before its callback. 0: no limit */
  uint32_t latched_depth;   /* with `latched`: messages of each publisher, up to 256. 0: 1 */
  uint32_t reserved2;       /* 0 */
} hyphos_policy;

/* --- Publishing ----------------------------------------------------------------------------- */

/* A publisher of one channel. hyphos_publisher_close() ends the handle. */
typedef struct hyphos_publisher hyphos_publisher;

/* Options of hyphos_publisher_open(). */
typedef struct hyphos_publisher_options {
  uint64_t struct_size;
  const hyphos_policy* policy; /* NULL: the default */
  int32_t local;               /* 1: messages stay in this process */
  int32_t reserved;            /* 0 */
} hyphos_publisher_options;

/* `options` may be NULL. hyphos_publisher_close() ends the handle. */
HYPHOS_API hyphos_code hyphos_publisher_open(hyphos_node* node, const char* channel,
                                             const hyphos_type* type,
                                             const hyphos_publisher_options* options,
                                             hyphos_publisher** publisher, hyphos_error* error);
HYPHOS_API void hyphos_publisher_close(hyphos_publisher* publisher);
/* The number of subscriptions in this process and receivers outside. 0 if `publisher` is NULL. */
HYPHOS_API uint32_t hyphos_publisher_listeners(const hyphos_publisher* publisher);

/* The outcome of a publish. */
typedef struct hyphos_published {
  uint64_t sequence;
  uint32_t taken;   /* queues that accepted the message */
  uint32_t dropped; /* queues that dropped it or the oldest message, counted under the reason */
} hyphos_published;

/* Publishes a payload with up to HYPHOS_MAX_BUFFERS attached buffers. Copies both once, to memory
 * that receivers read directly. Does not block unless the overflow rule of the channel is `block`.
 * `published` may be NULL. Fails if a guarantee of the channel was broken, and sets `published` in
 * that case too. */
HYPHOS_API hyphos_code hyphos_publish(hyphos_publisher* publisher, const void* payload, size_t size,
                                      const hyphos_bytes* buffers, size_t buffer_count,
                                      hyphos_published* published, hyphos_error* error);
/* Publishes a received message again on another channel of the same type, without a copy. */
HYPHOS_API hyphos_code hyphos_publish_message(hyphos_publisher* publisher,
                                              const hyphos_message* message,
                                              hyphos_published* published, hyphos_error* error);

/* Memory that receivers will read directly: a slot of shared memory if that helps, else heap
 * memory. The memory is not initialised. One thread fills the loan. The loan is then published or
 * dropped. */
typedef struct hyphos_loan {
  void* data;
  uint64_t size;
  void* owner; /* owned by the library */
} hyphos_loan;

HYPHOS_API hyphos_code hyphos_loan_bytes(hyphos_publisher* publisher, size_t size,
                                         hyphos_loan* loan, hyphos_error* error);
/* Has no effect on a loan of zeros. */
HYPHOS_API void hyphos_loan_drop(hyphos_loan* loan);
/* Publishes the first `size` bytes of a loan, without a copy. The loan ends and is set to zeros, on
 * success and on failure. The caller must not write to its memory afterwards. */
HYPHOS_API hyphos_code hyphos_publish_loan(hyphos_publisher* publisher, hyphos_loan* loan,
                                           size_t size, hyphos_published* published,
                                           hyphos_error* error);
/* The same for a head with loans as attached buffers. The head is copied, the loans are not. */
HYPHOS_API hyphos_code hyphos_publish_attached(hyphos_publisher* publisher, const void* head,
                                               size_t size, hyphos_loan* loans, size_t loan_count,
                                               hyphos_published* published, hyphos_error* error);

/* --- Subscribing ---------------------------------------------------------------------------- */

/* A subscription of one channel. hyphos_subscription_close() ends the handle. */
typedef struct hyphos_subscription hyphos_subscription;

/* The thread that runs callbacks. They run one at a time, except with HYPHOS_CONCURRENT. */
enum {
  HYPHOS_POLLED = 0,     /* in the thread that calls hyphos_poll() */
  HYPHOS_SERIAL = 1,     /* on the thread pool */
  HYPHOS_CONCURRENT = 2, /* on the thread pool, in parallel */
  HYPHOS_INLINE = 3      /* in the delivering thread: lowest latency, must not block */
};

/* Options of hyphos_subscribe(). */
typedef struct hyphos_subscription_options {
  uint64_t struct_size;
  const hyphos_policy* policy; /* NULL: the default */
  int32_t mode;
  int32_t local; /* 1: only messages from this process */
} hyphos_subscription_options;

/* `message` is valid until the callback returns. See hyphos_message_hold(). The callback must not
 * exit by longjmp or by an exception. */
typedef void (*hyphos_message_callback)(void* user, const hyphos_message* message);

/* `options` may be NULL. With HYPHOS_POLLED, `callback` may be NULL, and hyphos_take() then
 * receives the messages. hyphos_subscription_close() ends the handle. */
HYPHOS_API hyphos_code hyphos_subscribe(hyphos_node* node, const char* channel,
                                        const hyphos_type* type,
                                        const hyphos_subscription_options* options,
                                        hyphos_message_callback callback, void* user,
                                        hyphos_subscription** subscription, hyphos_error* error);
/* Afterwards no callback of this subscription starts. No callback is still running either, unless
 * the callback itself made this call. */
HYPHOS_API void hyphos_subscription_close(hyphos_subscription* subscription);
/* The number of publishers known now, in this process and outside. 0 if `subscription` is NULL. */
HYPHOS_API uint32_t hyphos_subscription_publishers(const hyphos_subscription* subscription);

/* Takes the next message, and waits up to `timeout_ns` for one (0: does not wait, negative: no
 * limit). Returns `timeout` if no message arrived. `message` is held, so the caller must release
 * it. */
HYPHOS_API hyphos_code hyphos_take(hyphos_subscription* subscription, int64_t timeout_ns,
                                   hyphos_message* message, hyphos_error* error);

/* --- Counters ------------------------------------------------------------------------------- */

/* Reads a counter: "sent", "received", "bytes", "drop.queue.overflow", "callback_error", ... as
 * `hyphos channel` shows them (docs/explanation/concepts.md). The value covers the endpoints of
 * this node on the channel. A counter that has not counted yet is 0. Takes locks and allocates, so
 * do not call it for every message. */
HYPHOS_API hyphos_code hyphos_publisher_counter(const hyphos_publisher* publisher, const char* name,
                                                uint64_t* value, hyphos_error* error);
HYPHOS_API hyphos_code hyphos_subscription_counter(const hyphos_subscription* subscription,
                                                   const char* name, uint64_t* value,
                                                   hyphos_error* error);

/* --- Services: servers ---------------------------------------------------------------------- */

/* A service that this process serves. hyphos_service_close() ends the handle. */
typedef struct hyphos_service hyphos_service;

/* One request. Exactly one of hyphos_reply(), hyphos_refuse() and hyphos_request_drop() ends it,
 * immediately or later, in any thread. */
typedef struct hyphos_request hyphos_request;

/* Options of hyphos_serve(). */
typedef struct hyphos_service_options {
  uint64_t struct_size;
  int32_t mode;         /* as for subscriptions */
  int32_t local;        /* 1: only requests from this process */
  uint32_t depth;       /* requests that may wait for the callback. 0: 64 */
  uint32_t max_pending; /* requests without a reply, including waiting ones. 0: 256 */
} hyphos_service_options;

/* The callback owns `request`. `message` is valid until the callback returns. */
typedef void (*hyphos_request_callback)(void* user, hyphos_request* request,
                                        const hyphos_message* message);

/* Serves requests. `options` may be NULL. Fails with `already_exists` if another live process
 * serves the name. hyphos_service_close() ends the handle. */
HYPHOS_API hyphos_code hyphos_serve(hyphos_node* node, const char* name, const hyphos_type* request,
                                    const hyphos_type* reply, const hyphos_service_options* options,
                                    hyphos_request_callback callback, void* user,
                                    hyphos_service** service, hyphos_error* error);
/* The same guarantee as hyphos_subscription_close(). */
HYPHOS_API void hyphos_service_close(hyphos_service* service);

/* Sends the reply, copies it once and ends the request. Fails with `disconnected` if the client no
 * longer waits. */
HYPHOS_API hyphos_code hyphos_reply(hyphos_request* request, const void* payload, size_t size,
                                    const hyphos_bytes* buffers, size_t buffer_count,
                                    hyphos_error* error);
/* Ends the call of the client with this error. `message` describes the correct use. */
HYPHOS_API hyphos_code hyphos_refuse(hyphos_request* request, hyphos_code code, const char* message,
                                     hyphos_error* error);
/* Ends the request without a reply. The client gets an error. */
HYPHOS_API void hyphos_request_drop(hyphos_request* request);
/* 1 after the client has given up. A reply is then useless. */
HYPHOS_API int32_t hyphos_request_canceled(const hyphos_request* request);

/* --- Services: clients ---------------------------------------------------------------------- */

/* A client of one service. hyphos_client_close() ends the handle. */
typedef struct hyphos_client hyphos_client;

/* Options of hyphos_client_open(). */
typedef struct hyphos_client_options {
  uint64_t struct_size;
  int32_t local;        /* 1: only servers in this process */
  uint32_t max_pending; /* calls in flight. 0: 64 */
} hyphos_client_options;

/* The server need not exist yet. hyphos_client_close() ends the handle. */
HYPHOS_API hyphos_code hyphos_client_open(hyphos_node* node, const char* name,
                                          const hyphos_type* request, const hyphos_type* reply,
                                          const hyphos_client_options* options,
                                          hyphos_client** client, hyphos_error* error);
HYPHOS_API void hyphos_client_close(hyphos_client* client);
/* Waits until there is a server. Here and below, `timeout_ns` 0 means five seconds. */
HYPHOS_API hyphos_code hyphos_client_wait(hyphos_client* client, int64_t timeout_ns,
                                          hyphos_error* error);
/* Calls the service and waits for the reply. The reply is held, so the caller must release it. A
 * polling thread must not call a HYPHOS_POLLED service of its own node, because no thread would run
 * that service. */
HYPHOS_API hyphos_code hyphos_call(hyphos_client* client, const void* payload, size_t size,
                                   const hyphos_bytes* buffers, size_t buffer_count,
                                   int64_t timeout_ns, hyphos_message* reply, hyphos_error* error);

/* One of `reply` and `error` is NULL. Both are valid until the callback returns. */
typedef void (*hyphos_reply_callback)(void* user, const hyphos_message* reply,
                                      const hyphos_error* error);
/* Starts a call. On success the callback runs exactly once: in hyphos_poll(), or in
 * hyphos_node_close() if that comes first. */
HYPHOS_API hyphos_code hyphos_call_async(hyphos_client* client, const void* payload, size_t size,
                                         const hyphos_bytes* buffers, size_t buffer_count,
                                         int64_t timeout_ns, hyphos_reply_callback callback,
                                         void* user, hyphos_error* error);

/* --- Actions: servers ----------------------------------------------------------------------- */

/* The state of a goal, with the numbers of action_msgs/GoalStatus. */
typedef int32_t hyphos_goal_state;
enum {
  HYPHOS_GOAL_SENT = 0,      /* sent, but not accepted yet */
  HYPHOS_GOAL_ACCEPTED = 1,  /* will be executed */
  HYPHOS_GOAL_EXECUTING = 2, /* the server executes it */
  HYPHOS_GOAL_CANCELING = 3, /* executed, and asked to end */
  HYPHOS_GOAL_SUCCEEDED = 4,
  HYPHOS_GOAL_CANCELED = 5,
  HYPHOS_GOAL_ABORTED = 6 /* it failed, was rejected, or its server is gone */
};

/* The treatment of a goal that arrives while another one is being executed. */
enum {
  HYPHOS_GOALS_QUEUE = 0,   /* it waits until the earlier goals have ended */
  HYPHOS_GOALS_PREEMPT = 1, /* the other is asked to cancel, and this one starts when it ended */
  HYPHOS_GOALS_REJECT = 2,  /* it is rejected as `overloaded` */
  HYPHOS_GOALS_PARALLEL = 3 /* both are executed */
};

/* The types of an action's messages. */
typedef struct hyphos_action_types {
  hyphos_type goal;
  hyphos_type feedback;
  hyphos_type result;
} hyphos_action_types;

/* An action that this process serves. hyphos_action_close() ends the handle. */
typedef struct hyphos_action hyphos_action;

/* A goal at its server. Exactly one of hyphos_goal_finish(), hyphos_goal_fail() and
 * hyphos_goal_drop() ends it, immediately or later, in any thread. */
typedef struct hyphos_goal hyphos_goal;

/* Options of hyphos_action_serve(). */
typedef struct hyphos_action_options {
  uint64_t struct_size;
  int32_t mode;   /* HYPHOS_POLLED, or HYPHOS_CONCURRENT: on the thread pool */
  int32_t policy; /* one of HYPHOS_GOALS_QUEUE to HYPHOS_GOALS_PARALLEL */
  int32_t local;  /* 1: only goals from this process */
  uint32_t depth; /* accepted goals that have not ended. 0: 16 */
} hyphos_action_options;

/* The callback owns `goal`. `message` is valid until the callback returns. */
typedef void (*hyphos_goal_callback)(void* user, hyphos_goal* goal, const hyphos_message* message);

/* Executes goals. `options` may be NULL. Fails with `already_exists` if another live process serves
 * the name. hyphos_action_close() ends the handle. */
HYPHOS_API hyphos_code hyphos_action_serve(hyphos_node* node, const char* name,
                                           const hyphos_action_types* types,
                                           const hyphos_action_options* options,
                                           hyphos_goal_callback callback, void* user,
                                           hyphos_action** action, hyphos_error* error);
/* Aborts the goals of the action, and ends the handle. The same guarantee as
 * hyphos_subscription_close(). */
HYPHOS_API void hyphos_action_close(hyphos_action* action);

/* Sends feedback, and copies it once. Fails with `disconnected` (no receiver), `overloaded` (the
 * feedback is counted as dropped) or `already_exists` (the goal has ended). */
HYPHOS_API hyphos_code hyphos_goal_feedback(hyphos_goal* goal, const void* payload, size_t size,
                                            const hyphos_bytes* buffers, size_t buffer_count,
                                            hyphos_error* error);
/* Ends the goal with a result. `state`: HYPHOS_GOAL_SUCCEEDED, _CANCELED or _ABORTED. */
HYPHOS_API hyphos_code hyphos_goal_finish(hyphos_goal* goal, hyphos_goal_state state,
                                          const void* payload, size_t size,
                                          const hyphos_bytes* buffers, size_t buffer_count,
                                          hyphos_error* error);
/* Aborts the goal without a result. The client gets this error. */
HYPHOS_API hyphos_code hyphos_goal_fail(hyphos_goal* goal, hyphos_code code, const char* message,
                                        hyphos_error* error);
/* Aborts the goal without a reason. */
HYPHOS_API void hyphos_goal_drop(hyphos_goal* goal);
/* 1 when the goal should end: its client canceled it or is gone, or another goal preempts it. */
HYPHOS_API int32_t hyphos_goal_cancel_requested(const hyphos_goal* goal);
/* Waits up to `timeout_ns`, and returns 1 as soon as the goal should end, else 0. */
HYPHOS_API int32_t hyphos_goal_wait(const hyphos_goal* goal, int64_t timeout_ns);

/* --- Actions: clients ----------------------------------------------------------------------- */

/* A client of one action. hyphos_action_client_close() ends the handle. Its goals continue. */
typedef struct hyphos_action_client hyphos_action_client;
/* A goal at its client. hyphos_sent_goal_release() ends the handle. The goal continues. */
typedef struct hyphos_sent_goal hyphos_sent_goal;

/* The server need not exist yet. `options` may be NULL. hyphos_action_client_close() ends the
 * handle. */
HYPHOS_API hyphos_code hyphos_action_client_open(hyphos_node* node, const char* name,
                                                 const hyphos_action_types* types,
                                                 const hyphos_client_options* options,
                                                 hyphos_action_client** client,
                                                 hyphos_error* error);
HYPHOS_API void hyphos_action_client_close(hyphos_action_client* client);
/* Waits until there is a server. `timeout_ns` 0 means five seconds. */
HYPHOS_API hyphos_code hyphos_action_client_wait(hyphos_action_client* client, int64_t timeout_ns,
                                                 hyphos_error* error);

/* `feedback` is valid until the callback returns. */
typedef void (*hyphos_feedback_callback)(void* user, const hyphos_message* feedback);
/* `state` is HYPHOS_GOAL_SUCCEEDED, _CANCELED or _ABORTED. One of `result` and `error` is NULL.
 * Both are valid until the callback returns. */
typedef void (*hyphos_result_callback)(void* user, hyphos_goal_state state,
                                       const hyphos_message* result, const hyphos_error* error);

/* The callbacks of a goal. Each may be NULL. They run in hyphos_poll(). `result` runs exactly once,
 * after the feedback: in hyphos_poll(), or in hyphos_node_close() if that comes first. Up to 64
 * feedback messages wait. Beyond that, the oldest one is dropped and counted. */
typedef struct hyphos_goal_callbacks {
  uint64_t struct_size;
  hyphos_feedback_callback feedback;
  hyphos_result_callback result;
  void* user;
} hyphos_goal_callbacks;

/* Sends a goal and returns immediately. If the server has not accepted it within
 * `accept_timeout_ns` (0: five seconds), the goal ends with an error. `callbacks` and `goal` may be
 * NULL. hyphos_sent_goal_release() ends the handle. */
HYPHOS_API hyphos_code hyphos_goal_send(hyphos_action_client* client, const void* payload,
                                        size_t size, const hyphos_bytes* buffers,
                                        size_t buffer_count, int64_t accept_timeout_ns,
                                        const hyphos_goal_callbacks* callbacks,
                                        hyphos_sent_goal** goal, hyphos_error* error);
/* Asks the server to cancel. The result reports the end. */
HYPHOS_API hyphos_code hyphos_sent_goal_cancel(hyphos_sent_goal* goal, hyphos_error* error);
/* The present state. HYPHOS_GOAL_ABORTED if `goal` is NULL. */
HYPHOS_API hyphos_goal_state hyphos_sent_goal_state(const hyphos_sent_goal* goal);
/* The number of feedback messages that were dropped, because the node was polled too rarely. */
HYPHOS_API uint64_t hyphos_sent_goal_feedback_dropped(const hyphos_sent_goal* goal);
/* Waits until the goal has ended. `result` is held, so the caller must release it. After `timeout`
 * the goal continues. Must not be called from a callback of hyphos_poll(). */
HYPHOS_API hyphos_code hyphos_sent_goal_result(hyphos_sent_goal* goal, int64_t timeout_ns,
                                               hyphos_goal_state* state, hyphos_message* result,
                                               hyphos_error* error);
HYPHOS_API void hyphos_sent_goal_release(hyphos_sent_goal* goal);

/* --- Parameters ----------------------------------------------------------------------------- */

/* The type of a parameter. */
enum { HYPHOS_BOOLEAN = 0, HYPHOS_INTEGER = 1, HYPHOS_REAL = 2, HYPHOS_TEXT = 3 };

/* The value of a parameter. `type` selects the field. */
typedef struct hyphos_value {
  int32_t type;
  int32_t boolean;
  int64_t integer;
  double real;
  const char* text;
} hyphos_value;

/* Options of hyphos_param_declare(). */
typedef struct hyphos_param_options {
  uint64_t struct_size;
  const char* unit;        /* "m/s" */
  const char* description; /* the effect of the parameter */
  double least;            /* for numbers. Both 0: no limits */
  double most;
  int32_t read_only; /* 1: cannot change after the declaration */
  int32_t reserved;  /* 0 */
} hyphos_param_options;

/* Declares a parameter of the node. Its value comes from the plan, else from `standard`. `options`
 * may be NULL. */
HYPHOS_API hyphos_code hyphos_param_declare(hyphos_node* node, const char* name,
                                            const hyphos_value* standard,
                                            const hyphos_param_options* options,
                                            hyphos_error* error);
/* Reads the current value. Copies text to `text`, a buffer of `capacity` bytes. A buffer that is
 * too small gives `out_of_range`. `text` may be NULL for a value that is not text. Takes a lock
 * briefly. */
HYPHOS_API hyphos_code hyphos_param_get(hyphos_node* node, const char* name, hyphos_value* value,
                                        char* text, size_t capacity, hyphos_error* error);
/* Sets a declared parameter. Runs its checks in the calling thread. Fails with `invalid_config` if
 * a check refuses the value, `type_mismatch`, `not_found`, or `permission` if it is read-only. */
HYPHOS_API hyphos_code hyphos_param_set(hyphos_node* node, const char* name,
                                        const hyphos_value* value, hyphos_error* error);
/* Reads a value of the tree that all nodes share as YAML: "0.5", "\"rover\"", "[[1, 2], [3]]".
 * `path` has words joined by dots. Copies to `yaml`, a buffer of `capacity` bytes, with a
 * terminating zero. `length` gets the length without it, and may be NULL. A buffer that is too
 * small gives `out_of_range`. Fails with `not_found`. */
HYPHOS_API hyphos_code hyphos_shared_param_get(hyphos_node* node, const char* path, char* yaml,
                                               size_t capacity, size_t* length,
                                               hyphos_error* error);
/* Sets a value of the tree from YAML, in all processes. A map sets each of its values. Fails with
 * `invalid_config` (YAML, or the path), or `exhausted`. */
HYPHOS_API hyphos_code hyphos_shared_param_set(hyphos_node* node, const char* path,
                                               const char* yaml, hyphos_error* error);
/* Increases with every change, from any source. 0 if `node` is NULL. */
HYPHOS_API uint64_t hyphos_params_version(const hyphos_node* node);

#ifdef __cplusplus
}
#endif

#endif
