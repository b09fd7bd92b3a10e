// A crowd of HTTP clients on 127.0.0.1, in one thread.
//
//   crowd work PORT CONNECTIONS SECONDS PATH BODIES PATIENCE
//       Each client sends a request, reads the answer and sends the next; the lines of the file BODIES
//       are the bodies, in turn. It pauses for 100 ms after a 503 or a broken connection. At the end it
//       waits up to PATIENCE seconds for outstanding answers. Prints counts and times as JSON.
//   crowd idle PORT CONNECTIONS SECONDS         clients that connect and send nothing
//   crowd drip PORT CONNECTIONS SECONDS         clients that send a request a byte a second
//   crowd hoard PORT CONNECTIONS SECONDS        clients that send all but the end of a large body
//   crowd deaf PORT CONNECTIONS SECONDS PATH    clients that send a request a second and read no answer
//
// Clients reconnect when they are disconnected, at most ten times a second. Prints "ready" on standard
// error once every client has connected.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { answer_bytes_max = 16384, buckets = 20000, pause_microseconds = 100000 };
enum { hoarded_body_bytes = 65536, hoarded_bytes = 60000 };

enum mode { WORK, IDLE, DRIP, HOARD, DEAF };

struct client {
    int socket;
    int is_connected, was_connected;
    const char *request;
    size_t length, sent, received;
    long long asked_at, paused_until;
    char *answer;
};

// A histogram of the times of one kind of answer, in buckets of a millisecond.
struct times {
    long count, bucket[buckets];
    long long longest;
};

static enum mode mode;
static int port, epoll, client_count;
static struct client *clients;
static char **requests;
static size_t *lengths;
static long request_count, next_request;
static struct times accepted, refused;
static long others, cuts, connect_failures, without_retry_after, first_other;
static int connected_once, is_ending;

static long long now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void add_time(struct times *times, long long microseconds) {
    long long index = microseconds / 1000;
    times->count++;
    times->bucket[index < buckets ? index : buckets - 1]++;
    if (microseconds > times->longest) times->longest = microseconds;
}

// Returns a quantile of the times as an upper bound in milliseconds.
static double quantile(const struct times *times, double part) {
    long left = (long) (part * times->count);
    for (int index = 0; index < buckets; index++) {
        left -= times->bucket[index];
        if (left < 0) return index + 1;
    }
    return 0;
}

static void read_requests(const char *path, const char *file) {
    size_t capacity = 0, line_capacity = 0;
    char *line = NULL;
    FILE *input = fopen(file, "r");
    if (!input) fail(file);
    for (ssize_t count; (count = getline(&line, &line_capacity, input)) > 0;) {
        if (line[count - 1] == '\n') line[--count] = 0;
        if ((size_t) request_count == capacity) {
            capacity = capacity ? capacity * 2 : 1024;
            requests = realloc(requests, capacity * sizeof *requests);
            lengths = realloc(lengths, capacity * sizeof *lengths);
        }
        int length = asprintf(
            &requests[request_count],
            "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            "Content-Length: %zd\r\n\r\n%s", path, count, line);
        if (length < 0) fail("asprintf");
        lengths[request_count++] = (size_t) length;
    }
    fclose(input);
    if (request_count == 0) fail("no bodies");
}

static void watch(struct client *client, uint32_t events) {
    struct epoll_event event = {.events = events, .data.ptr = client};
    epoll_ctl(epoll, EPOLL_CTL_MOD, client->socket, &event);
}

static void disconnect(struct client *client) {
    if (client->socket >= 0) close(client->socket);
    client->socket = -1;
    client->is_connected = 0;
    client->request = NULL;
    client->paused_until = now() + pause_microseconds;
}

static void connect_client(struct client *client) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t) port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int yes = 1, small = 4096;
    client->socket = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (client->socket < 0) fail("socket");
    setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    // Unread answers soon fill small buffers.
    if (mode == DEAF) setsockopt(client->socket, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    client->asked_at = now();
    client->paused_until = 0;
    struct epoll_event event = {.events = EPOLLOUT, .data.ptr = client};
    if (connect(client->socket, (struct sockaddr *) &address, sizeof address) != 0
        && errno != EINPROGRESS) {
        connect_failures++;
        disconnect(client);
        return;
    }
    epoll_ctl(epoll, EPOLL_CTL_ADD, client->socket, &event);
}

static void begin_request(struct client *client) {
    client->request = requests[next_request];
    client->length = lengths[next_request];
    next_request = (next_request + 1) % request_count;
    client->sent = client->received = 0;
}

// Sends the rest of the request; in DRIP mode one byte, the next a second later.
static void send_request(struct client *client) {
    size_t left = client->length - client->sent;
    if (mode == DRIP && left > 1) left = 1;
    ssize_t count = send(client->socket, client->request + client->sent, left, MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN) {
        cuts++;
        disconnect(client);
        return;
    }
    client->sent += count > 0 ? (size_t) count : 0;
    if (mode == DRIP) {
        client->paused_until = now() + 1000000;
        if (client->sent == client->length) client->sent = 0;
        watch(client, EPOLLIN);
    } else if (mode == DEAF) {
        // After a complete request the client sends another one a second later and reads no answer.
        if (client->sent < client->length) {
            watch(client, EPOLLOUT);
        } else {
            client->sent = 0;
            client->paused_until = now() + 1000000;
            watch(client, 0);
        }
    } else {
        watch(client, client->sent < client->length ? EPOLLOUT : EPOLLIN);
    }
}

// Returns the status of a complete answer; 0 if it is incomplete, -1 if it is malformed.
static int status_of(const struct client *client, int *has_retry_after) {
    const char *body = strstr(client->answer, "\r\n\r\n");
    if (!body) return client->received >= answer_bytes_max - 1 ? -1 : 0;
    const char *field = strcasestr(client->answer, "\r\nContent-Length:");
    if (!field || field > body) return -1;
    size_t whole = (size_t) (body + 4 - client->answer) + strtoul(field + 17, NULL, 10);
    if (client->received < whole) return whole >= answer_bytes_max ? -1 : 0;
    const char *retry = strcasestr(client->answer, "\r\nRetry-After:");
    *has_retry_after = retry && retry < body;
    return atoi(client->answer + 9);
}

static void read_answer(struct client *client) {
    char ignored[256];
    int has_retry_after = 0;
    if (mode != WORK) {
        ssize_t count = recv(client->socket, ignored, sizeof ignored, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN)) {
            cuts++;
            disconnect(client);
        }
        return;
    }
    ssize_t count = recv(
        client->socket, client->answer + client->received,
        answer_bytes_max - 1 - client->received, 0);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) {
        cuts++;
        disconnect(client);
        return;
    }
    client->received += (size_t) count;
    client->answer[client->received] = 0;
    int status = status_of(client, &has_retry_after);
    if (status == 0) return;
    long long time = now() - client->asked_at;
    client->request = NULL;
    if (status == 200) {
        add_time(&accepted, time);
        if (is_ending) return;
        client->asked_at = now();
        begin_request(client);
        send_request(client);
        return;
    }
    if (status == 503) {
        add_time(&refused, time);
        if (!has_retry_after) without_retry_after++;
    } else {
        if (others++ == 0) first_other = status;
    }
    if (status < 0) {
        disconnect(client);
        return;
    }
    client->paused_until = now() + pause_microseconds;
    watch(client, EPOLLIN);
}

static void handle_event(struct client *client, uint32_t events) {
    if (!client->is_connected) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(client->socket, SOL_SOCKET, SO_ERROR, &error, &length);
        if (error) {
            connect_failures++;
            disconnect(client);
            return;
        }
        client->is_connected = 1;
        if (!client->was_connected) {
            client->was_connected = 1;
            if (++connected_once == client_count) fputs("ready\n", stderr);
        }
        if (mode == IDLE || is_ending) {
            watch(client, EPOLLIN);
            return;
        }
        begin_request(client);
        send_request(client);
    } else if (events & (EPOLLERR | EPOLLHUP) && mode != WORK) {
        cuts++;
        disconnect(client);
    } else if (events & EPOLLOUT && client->request && client->sent < client->length) {
        send_request(client);
    } else {
        read_answer(client);
    }
}

// Resumes the clients whose pause is over.
static void resume(long long time) {
    for (int index = 0; index < client_count; index++) {
        struct client *client = &clients[index];
        if (client->paused_until == 0 || client->paused_until > time) continue;
        client->paused_until = 0;
        if (client->socket < 0) {
            connect_client(client);
            continue;
        }
        if (mode == WORK) client->asked_at = now();
        if (mode == WORK) begin_request(client);
        send_request(client);
    }
}

// Checks whether a client waits for its connection or for an answer.
static int is_outstanding(const struct client *client) {
    return client->socket >= 0 && (client->request || !client->is_connected);
}

static int outstanding_count(void) {
    int count = 0;
    for (int index = 0; index < client_count; index++) count += is_outstanding(&clients[index]);
    return count;
}

// Returns the longest wait of such a client, in microseconds.
static long long outstanding_longest(void) {
    long long longest = 0, time = now();
    for (int index = 0; index < client_count; index++) {
        long long age = time - clients[index].asked_at;
        if (is_outstanding(&clients[index]) && age > longest) longest = age;
    }
    return longest;
}

static void print_times(const char *name, const struct times *times) {
    printf(
        "\"%s\":{\"count\":%ld,\"p50_ms\":%.0f,\"p99_ms\":%.0f,\"max_ms\":%.0f}", name,
        times->count, quantile(times, 0.5), quantile(times, 0.99), times->longest / 1000.0);
}

int main(int count, char **arguments) {
    const char *names[] = {"work", "idle", "drip", "hoard", "deaf"};
    while (count > 1 && mode <= DEAF && strcmp(arguments[1], names[mode]) != 0) mode++;
    if (mode > DEAF || count != (mode == WORK ? 8 : mode == DEAF ? 6 : 5)) return 64;
    port = atoi(arguments[2]);
    client_count = atoi(arguments[3]);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < (rlim_t) client_count + 16) {
        fprintf(stderr, "only %ju descriptors\n", (uintmax_t) limit.rlim_max);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    if (mode == WORK) {
        read_requests(arguments[5], arguments[6]);
    } else {
        requests = calloc(1, sizeof *requests);
        lengths = calloc(1, sizeof *lengths);
        int length = mode == HOARD
            ? asprintf(
                &requests[0], "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%0*d",
                hoarded_body_bytes, hoarded_bytes, 0)
            : asprintf(
                &requests[0], "GET %s HTTP/1.1\r\nHost: localhost\r\nX-Long: %0500d\r\n\r\n",
                mode == DEAF ? arguments[5] : "/", 0);
        if (length < 0) fail("asprintf");
        lengths[0] = (size_t) length;
        request_count = 1;
    }
    epoll = epoll_create1(EPOLL_CLOEXEC);
    clients = calloc((size_t) client_count, sizeof *clients);
    const pid_t starter = getppid();
    long long start = now(), end = start + atoll(arguments[4]) * 1000000, resumed_at = 0, time;
    for (int index = 0; index < client_count; index++) {
        clients[index].answer = mode == WORK ? malloc(answer_bytes_max) : NULL;
        clients[index].socket = -1;
        // Connections are spread over time, because the listen backlog is limited.
        clients[index].paused_until = start + index * 100LL + 1;
    }
    long long last = mode == WORK ? end + atoll(arguments[7]) * 1000000 : end;
    long accepted_in_time = 0;
    while ((time = now()) < last && getppid() == starter) {
        if (time >= end && !is_ending) {
            is_ending = 1;
            accepted_in_time = accepted.count;
        }
        struct epoll_event events[512];
        int ready = epoll_wait(epoll, events, 512, 5);
        for (int index = 0; index < ready; index++) {
            struct client *client = events[index].data.ptr;
            if (client->socket >= 0) handle_event(client, events[index].events);
        }
        if ((time = now()) - resumed_at >= 2000) {
            if (!is_ending) resume(time);
            if (is_ending && outstanding_count() == 0) break;
            resumed_at = time;
        }
    }
    double seconds = (end - start) / 1e6;
    printf(
        "{\"connections\":%d,\"seconds\":%.3f,\"accepted_in_time\":%ld,"
        "\"outstanding\":%d,\"outstanding_max_ms\":%.0f,",
        client_count, seconds, accepted_in_time, outstanding_count(),
        outstanding_longest() / 1000.0);
    print_times("accepted", &accepted);
    printf(",");
    print_times("refused", &refused);
    printf(
        ",\"other\":%ld,\"first_other\":%ld,\"cut\":%ld,\"connect_failures\":%ld,"
        "\"without_retry_after\":%ld,\"cpu_seconds\":%.3f}\n",
        others, first_other, cuts, connect_failures, without_retry_after, (double) clock() / 1e6);
    return 0;
}
