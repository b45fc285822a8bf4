#include <libwebsockets.h>

// LWS_PRE is a macro over sizeof, which Swift does not import.
static const size_t clws_pre = LWS_PRE;

// The three calls of libev we make ourselves: libwebsockets runs on a loop of ours, because under its
// own libev loop lws_service() never returns. Declared here so that ev.h's macros stay outside Swift.
struct ev_loop;
struct ev_loop *ev_loop_new(unsigned int flags);
int ev_run(struct ev_loop *loop, int flags);
void ev_break(struct ev_loop *loop, int how);
void ev_loop_destroy(struct ev_loop *loop);
