#ifndef HYPHOS_C_H
#define HYPHOS_C_H

/* The C interface of Hyphos: what clients in other languages stand on (docs/client_c.md).
 *
 * It is stable: a program built against this header runs with every later libhyphos_c.so.0.
 *
 * Text is UTF-8 and ends with 0. Handles are opaque; each says which function ends it. A struct
 * that has `struct_size` is filled in by the caller, `struct_size` with sizeof of it and the rest
 * with zeros where the default is wanted; later versions append fields and know by the size that
 * they are absent. All others keep their layout as long as HYPHOS_ABI is the same.
 *
 * A function that can fail returns HYPHOS_OK (0) or a code, and says the rest in `error`, storage
 * of the caller that may be NULL. Output arguments are set only if it succeeds. Nothing throws, and
 * NULL instead of a handle is an error and not a crash.
 *
 * Threads: every function may be called from any thread at any time, unless it says otherwise; but
 * nobody may use a handle that is being ended. No function may be called from a signal handler. */

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

/* The ABI that the library has, to be compared with HYPHOS_ABI, and its version, "0.1.0". */
HYPHOS_API int32_t hyphos_abi(void);
HYPHOS_API const char* hyphos_version(void);

/* --- Errors ------------------------------------------------------------------------------- */

typedef int32_t hyphos_code;
enum {
  HYPHOS_OK = 0,
  HYPHOS_INVALID_CONFIG = 1, /* an argument, file or plan is wrong */
  HYPHOS_NOT_FOUND = 2,
  HYPHOS_ALREADY_EXISTS = 3,
  HYPHOS_TYPE_MISMATCH = 4, /* the two sides of a channel disagree about its type */
  HYPHOS_TIMEOUT = 5,
  HYPHOS_OVERLOADED = 6, /* a bounded queue or pool is full */
  HYPHOS_DISCONNECTED = 7,
  HYPHOS_EXHAUSTED = 8, /* disk, /dev/shm, memory or descriptors ran out */
  HYPHOS_PERMISSION = 9,
  HYPHOS_CORRUPT = 10,
  HYPHOS_UNSUPPORTED = 11,
  HYPHOS_IO = 12,
  HYPHOS_CANCELED = 13,
  HYPHOS_OUT_OF_RANGE = 14,
  HYPHOS_TOO_LARGE = 15
};

/* Texts that are longer are cut at the end of a character. */
typedef struct hyphos_error {
  hyphos_code code;
  char message[1020]; /* what happened and what would be right */
  char where[512];    /* file and line, channel or path; may be empty */
  char advice[256];   /* what a caller can do */
} hyphos_error;

/* "type_mismatch". NULL if there is no such code. */
HYPHOS_API const char* hyphos_code_name(hyphos_code code);

/* --- Bytes -------------------------------------------------------------------------------- */

typedef struct hyphos_bytes {
  const void* data;
  uint64_t size;
} hyphos_bytes;

#define HYPHOS_MAX_BUFFERS 8

/* One received message, where it lies: in shared memory if another process of this machine sent it.
 * Good until the callback that was given it returns, or until hyphos_message_release() of one that
 * is held. A held message holds its slot: whoever keeps many keeps the sender from sending. */
typedef struct hyphos_message {
  hyphos_bytes payload;
  hyphos_bytes buffers[HYPHOS_MAX_BUFFERS]; /* attached: pixels, points */
  uint32_t buffer_count;
  int32_t replayed;     /* 1: a latched value, sent again because this subscriber came late */
  uint64_t sequence;    /* counts from 1 for each sender */
  uint64_t sender;      /* unique over all machines */
  int64_t published_ns; /* CLOCK_MONOTONIC of this machine, as are all stamps */
  int64_t arrived_ns;   /* in this process; 0: it was sent here */
  void* block;          /* of the library */
} hyphos_message;

/* Keeps `message` beyond its callback, in `held`; they may be the same. Copies no payload and
 * allocates nothing. */
HYPHOS_API hyphos_code hyphos_message_hold(const hyphos_message* message, hyphos_message* held,
                                           hyphos_error* error);
/* Ends what hyphos_message_hold(), hyphos_take() or hyphos_call() filled in, and sets it to zeros.
 * Harmless if it is zeros already. Any thread. */
HYPHOS_API void hyphos_message_release(hyphos_message* message);

/* --- Nodes -------------------------------------------------------------------------------- */

typedef struct hyphos_node hyphos_node;

typedef struct hyphos_node_options {
  uint64_t struct_size;
  const char* plan_file; /* robot.yaml; NULL: none, shared memory and defaults */
  const char* process;   /* which process of the plan; NULL: "main" */
  const char* domain;    /* separates robots on one machine; NULL: the plan's, or the default */
  const char* const* overrides; /* "channels.scan.depth=3", as `--set` on the command line */
  uint64_t override_count;
  int32_t threads; /* of the pool; 0: the plan's number, or one for each core */
  int32_t offline; /* 1: no transports, everything stays in this process */
} hyphos_node_options;

/* A process of the robot with one node. `options` may be NULL. Ended by hyphos_node_close(). */
HYPHOS_API hyphos_code hyphos_node_open(const char* name, const hyphos_node_options* options,
                                        hyphos_node** node, hyphos_error* error);
/* The same from the arguments that `hyphos run` passes (--hyphos-...); others are left alone. */
HYPHOS_API hyphos_code hyphos_node_open_args(const char* name, int32_t argc, char* const* argv,
                                             hyphos_node** node, hyphos_error* error);
/* One more node in the process of `node`, which may be ended before it. */
HYPHOS_API hyphos_code hyphos_node_beside(hyphos_node* node, const char* name, hyphos_node** other,
                                          hyphos_error* error);
/* Closes its publishers, subscriptions, services and clients, and ends the handle. Waits for
 * callbacks that are running, and up to a second for calls of other threads into its ends, which
 * find it closed from then on. A call of a service that is under way is told `disconnected`, in
 * here. Handles of ends stay good and have to be ended themselves; messages that are held stay
 * readable. Not from a callback. */
HYPHOS_API void hyphos_node_close(hyphos_node* node);

/* Tells a supervisor that all is set up. */
HYPHOS_API hyphos_code hyphos_node_ready(hyphos_node* node, hyphos_error* error);
/* Nanoseconds since 1970, or of the simulation if the plan says so; 0 if `node` is NULL. */
HYPHOS_API int64_t hyphos_now(const hyphos_node* node);
/* CLOCK_MONOTONIC: the clock of all stamps. */
HYPHOS_API int64_t hyphos_monotonic_now(void);

enum { HYPHOS_DEBUG = 0, HYPHOS_INFO = 1, HYPHOS_WARN = 2, HYPHOS_ERROR = 3, HYPHOS_FATAL = 4 };
/* A line for people: to stderr and to `hyphos log`. */
HYPHOS_API hyphos_code hyphos_log(hyphos_node* node, int32_t level, const char* text,
                                  hyphos_error* error);

/* --- Callbacks in a thread of the caller ---------------------------------------------------- */

/* Runs the callbacks of HYPHOS_POLLED ends that wait, in this thread: those of what had come when
 * it began, at most `most` of them (0: all). If nothing waits, waits for up to `timeout_ns` (0: not
 * at all; negative: without end) until something does. Sets `ran`, which may be NULL. One thread
 * may poll a node at a time: a second one, or a callback, is told `already_exists`. */
HYPHOS_API hyphos_code hyphos_poll(hyphos_node* node, int64_t timeout_ns, uint32_t most,
                                   uint32_t* ran, hyphos_error* error);
/* Ends the wait of hyphos_poll(), now or the next one. */
HYPHOS_API void hyphos_wake(hyphos_node* node);
/* A file descriptor that is readable while hyphos_poll() has something to do, for event loops. It
 * belongs to the node; nobody else reads, writes or closes it. -1 if there is none. */
HYPHOS_API int32_t hyphos_poll_fd(hyphos_node* node);

/* --- Types and policies --------------------------------------------------------------------- */

enum {
  HYPHOS_STRUCTURE = 0, /* the bytes of a struct, `bytes` of them, little endian */
  HYPHOS_BYTES = 1,     /* raw bytes; the name is "bytes" */
  HYPHOS_PROTOBUF = 2,
  HYPHOS_ATTACHED = 3, /* a protobuf head, and buffers beside it */
  HYPHOS_CUSTOM = 4
};

typedef struct hyphos_type {
  const char* name; /* "hyphos.msgs.LaserScan"; NULL with HYPHOS_BYTES */
  uint64_t bytes;   /* HYPHOS_STRUCTURE: sizeof the struct; else 0 */
  int32_t encoding;
  int32_t reserved; /* 0 */
} hyphos_type;

enum { HYPHOS_BEST_EFFORT = 0, HYPHOS_RELIABLE = 1 };
enum {
  HYPHOS_OVERFLOW_IMPLIED = 0, /* reliable: block; best effort: the oldest is dropped */
  HYPHOS_DROP_OLDEST = 1,
  HYPHOS_DROP_NEWEST = 2,
  HYPHOS_BLOCK = 3
};
enum { HYPHOS_NORMAL = 0, HYPHOS_LOW = 1, HYPHOS_HIGH = 2 };

/* Counts for channels that the plan does not name; there, the plan says it. */
typedef struct hyphos_policy {
  uint64_t struct_size;
  int32_t reliability;
  int32_t overflow;
  int32_t priority;
  int32_t latched;          /* 1: a late subscriber gets the last message at once */
  uint32_t depth;           /* messages that may wait in each queue, to 65536; 0: 10 */
  uint32_t reserved;        /* 0 */
  int64_t deadline_ms;      /* counts `deadline_missed` if nothing comes for so long; 0: off */
  int64_t block_timeout_ms; /* of HYPHOS_BLOCK; 0: waits for ever */
} hyphos_policy;

/* --- Publishing ----------------------------------------------------------------------------- */

typedef struct hyphos_publisher hyphos_publisher;

typedef struct hyphos_publisher_options {
  uint64_t struct_size;
  const hyphos_policy* policy; /* NULL: the default */
  int32_t local;               /* 1: messages stay in this process */
  int32_t reserved;            /* 0 */
} hyphos_publisher_options;

/* `options` may be NULL. Ended by hyphos_publisher_close(). */
HYPHOS_API hyphos_code hyphos_publisher_open(hyphos_node* node, const char* channel,
                                             const hyphos_type* type,
                                             const hyphos_publisher_options* options,
                                             hyphos_publisher** publisher, hyphos_error* error);
HYPHOS_API void hyphos_publisher_close(hyphos_publisher* publisher);
/* Subscriptions in this process and receivers outside; 0 if `publisher` is NULL. */
HYPHOS_API uint32_t hyphos_publisher_listeners(const hyphos_publisher* publisher);

/* What became of a message. */
typedef struct hyphos_published {
  uint64_t sequence;
  uint32_t taken;   /* queues that took it */
  uint32_t dropped; /* queues that did not; each is counted under its reason */
} hyphos_published;

/* Publishes a payload with up to HYPHOS_MAX_BUFFERS attached buffers, which are copied once, to
 * where receivers read them. Does not block unless the channel's overflow rule is `block`.
 * `published` may be NULL. Fails if a promise of the channel was broken; it is set then, too. */
HYPHOS_API hyphos_code hyphos_publish(hyphos_publisher* publisher, const void* payload, size_t size,
                                      const hyphos_bytes* buffers, size_t buffer_count,
                                      hyphos_published* published, hyphos_error* error);
/* Publishes a received message again, without copying it: to another channel, of the same type. */
HYPHOS_API hyphos_code hyphos_publish_message(hyphos_publisher* publisher,
                                              const hyphos_message* message,
                                              hyphos_published* published, hyphos_error* error);

/* Memory where receivers will read: a slot of shared memory if that is of use, else the heap. Not
 * initialised. Filled by one thread; then published, or dropped. */
typedef struct hyphos_loan {
  void* data;
  uint64_t size;
  void* owner; /* of the library */
} hyphos_loan;

HYPHOS_API hyphos_code hyphos_loan_bytes(hyphos_publisher* publisher, size_t size,
                                         hyphos_loan* loan, hyphos_error* error);
/* Harmless if it is zeros already. */
HYPHOS_API void hyphos_loan_drop(hyphos_loan* loan);
/* Publishes the first `size` bytes of a loan, without a copy. The loan is ended and set to zeros,
 * whether or not it succeeds; its memory must not be written any more. */
HYPHOS_API hyphos_code hyphos_publish_loan(hyphos_publisher* publisher, hyphos_loan* loan,
                                           size_t size, hyphos_published* published,
                                           hyphos_error* error);
/* The same for a head, which is copied, with loans as attached buffers, which are not. */
HYPHOS_API hyphos_code hyphos_publish_attached(hyphos_publisher* publisher, const void* head,
                                               size_t size, hyphos_loan* loans, size_t loan_count,
                                               hyphos_published* published, hyphos_error* error);

/* --- Subscribing ---------------------------------------------------------------------------- */

typedef struct hyphos_subscription hyphos_subscription;

/* Where callbacks run, one at a time unless it is HYPHOS_CONCURRENT. */
enum {
  HYPHOS_POLLED = 0,     /* in the thread that calls hyphos_poll() */
  HYPHOS_SERIAL = 1,     /* on the thread pool */
  HYPHOS_CONCURRENT = 2, /* on the thread pool, in parallel */
  HYPHOS_INLINE = 3      /* in the thread that delivers: the shortest path; must not block */
};

typedef struct hyphos_subscription_options {
  uint64_t struct_size;
  const hyphos_policy* policy; /* NULL: the default */
  int32_t mode;
  int32_t local; /* 1: only messages from this process */
} hyphos_subscription_options;

/* `message` is good until it returns; see hyphos_message_hold(). It must not leave by longjmp or by
 * an exception. */
typedef void (*hyphos_message_callback)(void* user, const hyphos_message* message);

/* `options` may be NULL. With HYPHOS_POLLED, `callback` may be NULL: hyphos_take() gets the
 * messages then. Ended by hyphos_subscription_close(). */
HYPHOS_API hyphos_code hyphos_subscribe(hyphos_node* node, const char* channel,
                                        const hyphos_type* type,
                                        const hyphos_subscription_options* options,
                                        hyphos_message_callback callback, void* user,
                                        hyphos_subscription** subscription, hyphos_error* error);
/* On return no callback of it is running, unless it was called from that callback, and none will
 * run again. */
HYPHOS_API void hyphos_subscription_close(hyphos_subscription* subscription);
/* Publishers known now, in this process and outside; 0 if `subscription` is NULL. */
HYPHOS_API uint32_t hyphos_subscription_publishers(const hyphos_subscription* subscription);

/* Takes the next message, waiting for up to `timeout_ns` (0: not at all; negative: without end).
 * `timeout` if none came. `message` is held: it has to be released. */
HYPHOS_API hyphos_code hyphos_take(hyphos_subscription* subscription, int64_t timeout_ns,
                                   hyphos_message* message, hyphos_error* error);

/* --- Counters ------------------------------------------------------------------------------- */

/* "sent", "received", "bytes", "drop.queue.overflow", "callback_error", ... as `hyphos channel`
 * shows them (docs/concepts.md), of this node's ends of the channel; 0 for one that has not counted
 * yet. Takes locks and allocates: not for every message. */
HYPHOS_API hyphos_code hyphos_publisher_counter(const hyphos_publisher* publisher, const char* name,
                                                uint64_t* value, hyphos_error* error);
HYPHOS_API hyphos_code hyphos_subscription_counter(const hyphos_subscription* subscription,
                                                   const char* name, uint64_t* value,
                                                   hyphos_error* error);

/* --- Services: answering -------------------------------------------------------------------- */

typedef struct hyphos_service hyphos_service;
/* One question. Ended by hyphos_reply(), hyphos_refuse() or hyphos_request_drop(), now or later, in
 * any thread; by exactly one of them. */
typedef struct hyphos_request hyphos_request;

typedef struct hyphos_service_options {
  uint64_t struct_size;
  int32_t mode;         /* as for subscriptions */
  int32_t local;        /* 1: only questions from this process */
  uint32_t depth;       /* questions that may wait for the callback; 0: 64 */
  uint32_t max_pending; /* taken and not answered yet, waiting ones included; 0: 256 */
} hyphos_service_options;

/* The callback owns `request`. `message` is good until it returns. */
typedef void (*hyphos_request_callback)(void* user, hyphos_request* request,
                                        const hyphos_message* message);

HYPHOS_API hyphos_code hyphos_serve(hyphos_node* node, const char* name, const hyphos_type* request,
                                    const hyphos_type* reply, const hyphos_service_options* options,
                                    hyphos_request_callback callback, void* user,
                                    hyphos_service** service, hyphos_error* error);
/* As hyphos_subscription_close(). */
HYPHOS_API void hyphos_service_close(hyphos_service* service);

HYPHOS_API hyphos_code hyphos_reply(hyphos_request* request, const void* payload, size_t size,
                                    const hyphos_bytes* buffers, size_t buffer_count,
                                    hyphos_error* error);
/* The client's call ends with this error. `message` says what would be right. */
HYPHOS_API hyphos_code hyphos_refuse(hyphos_request* request, hyphos_code code, const char* message,
                                     hyphos_error* error);
/* The client is told that nobody answers. */
HYPHOS_API void hyphos_request_drop(hyphos_request* request);
/* 1 once the client has given up: an answer is of no use any more. */
HYPHOS_API int32_t hyphos_request_canceled(const hyphos_request* request);

/* --- Services: asking ----------------------------------------------------------------------- */

typedef struct hyphos_client hyphos_client;

typedef struct hyphos_client_options {
  uint64_t struct_size;
  int32_t local;        /* 1: only servers in this process */
  uint32_t max_pending; /* calls under way at once; 0: 64 */
} hyphos_client_options;

/* There need not be a server yet. Ended by hyphos_client_close(). */
HYPHOS_API hyphos_code hyphos_client_open(hyphos_node* node, const char* name,
                                          const hyphos_type* request, const hyphos_type* reply,
                                          const hyphos_client_options* options,
                                          hyphos_client** client, hyphos_error* error);
HYPHOS_API void hyphos_client_close(hyphos_client* client);
/* Waits until there is a server. Here and below, `timeout_ns` 0 is five seconds. */
HYPHOS_API hyphos_code hyphos_client_wait(hyphos_client* client, int64_t timeout_ns,
                                          hyphos_error* error);
/* Asks and waits for the answer, which is held: it has to be released. A thread that polls must not
 * ask a service of its own that is HYPHOS_POLLED: nobody would answer. */
HYPHOS_API hyphos_code hyphos_call(hyphos_client* client, const void* payload, size_t size,
                                   const hyphos_bytes* buffers, size_t buffer_count,
                                   int64_t timeout_ns, hyphos_message* reply, hyphos_error* error);

/* One of `reply` and `error` is NULL. Both are good until it returns. */
typedef void (*hyphos_reply_callback)(void* user, const hyphos_message* reply,
                                      const hyphos_error* error);
/* Asks; the callback runs exactly once if this succeeds, in hyphos_poll(), or in
 * hyphos_node_close() if that comes before. */
HYPHOS_API hyphos_code hyphos_call_async(hyphos_client* client, const void* payload, size_t size,
                                         const hyphos_bytes* buffers, size_t buffer_count,
                                         int64_t timeout_ns, hyphos_reply_callback callback,
                                         void* user, hyphos_error* error);

/* --- Parameters ----------------------------------------------------------------------------- */

enum { HYPHOS_BOOLEAN = 0, HYPHOS_INTEGER = 1, HYPHOS_REAL = 2, HYPHOS_TEXT = 3 };

typedef struct hyphos_value {
  int32_t type;
  int32_t boolean;
  int64_t integer;
  double real;
  const char* text;
} hyphos_value;

typedef struct hyphos_param_options {
  uint64_t struct_size;
  const char* unit;        /* "m/s" */
  const char* description; /* what it does */
  double least;            /* of numbers; both 0: any */
  double most;
  int32_t read_only; /* 1: fixed once it is declared */
  int32_t reserved;  /* 0 */
} hyphos_param_options;

/* A parameter of the node; its value is that of the plan, or `standard`. `options` may be NULL. */
HYPHOS_API hyphos_code hyphos_param_declare(hyphos_node* node, const char* name,
                                            const hyphos_value* standard,
                                            const hyphos_param_options* options,
                                            hyphos_error* error);
/* The value now. Text is copied to `text`, which has room for `capacity` bytes (`out_of_range` if
 * that is too little) and may be NULL if it is not text. Takes a lock for a moment. */
HYPHOS_API hyphos_code hyphos_param_get(hyphos_node* node, const char* name, hyphos_value* value,
                                        char* text, size_t capacity, hyphos_error* error);
HYPHOS_API hyphos_code hyphos_param_set(hyphos_node* node, const char* name,
                                        const hyphos_value* value, hyphos_error* error);
/* Grows with every change, whoever made it; 0 if `node` is NULL. */
HYPHOS_API uint64_t hyphos_params_version(const hyphos_node* node);

#ifdef __cplusplus
}
#endif

#endif
