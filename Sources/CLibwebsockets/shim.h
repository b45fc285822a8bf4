#include <libwebsockets.h>
// Not brought by libwebsockets.h any more since 5.0.
#include <openssl/ssl.h>
// Without the names of libev 3, which are as short as a loop and a timer.
#define EV_COMPAT3 0
#include <ev.h>
#include <sys/ioctl.h>

// Connections are written to through OpenSSL.
#if defined(LWS_WITH_GNUTLS) || defined(LWS_WITH_MBEDTLS) || defined(LWS_WITH_WOLFSSL)
#error "libwebsockets has to be one that was built with OpenSSL"
#endif

// These of OpenSSL are macros.
// OpenSSL would keep two buffers of 16 KB for each connection, also when nothing is in them; and it would not tell of
// the records that a socket has taken of what was written.
static inline void clws_set_modes(SSL_CTX *context) {
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}
static inline void clws_set_least_version(SSL_CTX *context) { SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION); }
static inline int clws_set_server_name(SSL *tls, const char *name) { return (int)SSL_set_tlsext_host_name(tls, name); }

// Whether the library asks for addresses while the loop goes on, and makes a socket only when it has the answer.
#ifdef LWS_WITH_SYS_ASYNC_DNS
static const int clws_resolves_later = 1;
#else
static const int clws_resolves_later = 0;
#endif

// libwebsockets runs on a libev loop of ours: under its own one lws_service() never returns.
// Its sockets and timers are its own; those below are ours. Callbacks get only the watcher, and C
// programs go on by container_of, which Swift lacks: here the owner stands right behind it.

struct clws_io {
    ev_io watcher;
    void *owner;
};

typedef void (*clws_io_callback)(struct ev_loop *loop, ev_io *watcher, int events);

// ev_io_init and ev_io_set are macros.
static inline void clws_io_init(struct clws_io *io, int descriptor, clws_io_callback callback, void *owner) {
    ev_io_init(&io->watcher, callback, descriptor, 0);
    io->owner = owner;
}

// Watches for other events than before; for none at all when events is 0.
static inline void clws_io_watch(struct ev_loop *loop, struct clws_io *io, int events) {
    int descriptor = io->watcher.fd;
    ev_io_stop(loop, &io->watcher);
    ev_io_set(&io->watcher, descriptor, events);
    if (events) ev_io_start(loop, &io->watcher);
}

struct clws_timer {
    ev_timer watcher;
    void *owner;
};

typedef void (*clws_timer_callback)(struct ev_loop *loop, ev_timer *watcher, int events);

// What is due comes before everything else in its turn of the loop.
static inline void clws_timer_init(struct clws_timer *timer, clws_timer_callback callback, void *owner) {
    ev_timer_init(&timer->watcher, callback, 0, 0);
    ev_set_priority(&timer->watcher, EV_MAXPRI);
    timer->owner = owner;
}

// Calls back once, so many seconds from now, and not at the time set before.
static inline void clws_timer_start(struct ev_loop *loop, struct clws_timer *timer, double seconds) {
    ev_timer_stop(loop, &timer->watcher);
    ev_timer_set(&timer->watcher, seconds, 0.);
    ev_timer_start(loop, &timer->watcher);
}

struct clws_async {
    ev_async watcher;
    void *owner;
};

typedef void (*clws_async_callback)(struct ev_loop *loop, ev_async *watcher, int events);

static inline void clws_async_start(struct ev_loop *loop, struct clws_async *async, clws_async_callback callback, void *owner) {
    ev_async_init(&async->watcher, callback);
    async->owner = owner;
    ev_async_start(loop, &async->watcher);
}

// What was sent on a socket and is not acknowledged; -1 where that is not known. ioctl is variadic.
static inline int clws_unacknowledged(int descriptor) {
#ifdef __linux__
    int count;
    return ioctl(descriptor, TIOCOUTQ, &count) == 0 ? count : -1;
#else
    return -1;
#endif
}

#ifdef __linux__
// The system's accept4, whose own declaration is only for programs that ask for GNU's extensions.
extern int clws_accept4(int listening, struct sockaddr *address, socklen_t *length, int flags) __asm__("accept4");
// The system's sched_getaffinity, for the same reason.
extern int clws_sched_getaffinity(int process, size_t bytes, void *processors) __asm__("sched_getaffinity");
#endif
