#pragma once
#include <microhttpd.h>
#include <stdbool.h>
#include <string.h>

/// The options of a daemon; MHD_start_daemon is variadic and can't be called from Swift.
struct cmhd_settings {
    unsigned int connections_max;
    unsigned int idle_seconds_max;
    size_t connection_memory_bytes;
    /// The first argument of every callback.
    void *context;
    void *(*on_target)(void *, const char *, struct MHD_Connection *);
    MHD_AccessHandlerCallback on_request;
    MHD_RequestCompletedCallback on_completed;
    MHD_NotifyConnectionCallback on_connection;
};

/// Leaves escapes unchanged: the target is decoded once, by the code that parses it.
static inline size_t cmhd_keep_escapes(
    void *context, struct MHD_Connection *connection, char *text) {
    (void) context;
    (void) connection;
    return strlen(text);
}

static inline struct MHD_Daemon *cmhd_start(const struct cmhd_settings *settings) {
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL,
        settings->on_request, settings->context,
        MHD_OPTION_CONNECTION_LIMIT, settings->connections_max,
        MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds_max,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory_bytes,
        MHD_OPTION_URI_LOG_CALLBACK, settings->on_target, settings->context,
        MHD_OPTION_UNESCAPE_CALLBACK, cmhd_keep_escapes, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, settings->on_completed, settings->context,
        MHD_OPTION_NOTIFY_CONNECTION, settings->on_connection, settings->context,
        MHD_OPTION_END);
}

/// Passes a connection from a peer's address, a `sockaddr`, to a daemon; false when it has closed the
/// connection instead.
static inline bool cmhd_serve(
    struct MHD_Daemon *daemon, int connection, const void *peer, socklen_t peer_length) {
    return MHD_add_connection(daemon, connection, peer, peer_length) == MHD_YES;
}

/// Wrappers for the uses of MHD_get_connection_info, which is variadic.
static inline int cmhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static inline const struct sockaddr *cmhd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

static inline void *cmhd_socket_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// The values that a content reader returns at the end, and to close the connection before it; Swift can't import
/// the macros, which have casts.
static const ssize_t cmhd_end_of_stream = MHD_CONTENT_READER_END_OF_STREAM;
static const ssize_t cmhd_end_with_error = MHD_CONTENT_READER_END_WITH_ERROR;

static inline size_t cmhd_header_bytes(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}
