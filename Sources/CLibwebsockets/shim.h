#include <libwebsockets.h>

// LWS_PRE is a macro over sizeof, which Swift does not import.
static const size_t clws_pre = LWS_PRE;

// A timer callback gets only its list entry, and C programs go on by container_of, which Swift
// lacks: here the owner stands right behind the entry.
struct clws_timer {
    lws_sorted_usec_list_t entry;
    void *owner;
};

// The calls of libev we make ourselves: libwebsockets runs on a loop of ours, because under its
// own libev loop lws_service() never returns. Declared here so that ev.h's macros stay outside Swift.
struct ev_loop;
struct ev_loop *ev_loop_new(unsigned int flags);
void ev_break(struct ev_loop *loop, int how);
void ev_loop_destroy(struct ev_loop *loop);
