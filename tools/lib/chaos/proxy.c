// A TCP proxy on 127.0.0.1 that imitates network faults.
//
//   proxy PORT TARGET       PORT 0 chooses a free port; prints "listening PORT"
//
// Signals:
//   SIGUSR1  stops forwarding: connections stay open, and the kernel still accepts new ones
//   SIGUSR2  resumes forwarding
//   SIGHUP   resets the connections to the target; those of the clients stay open and silent; new
//            connections work
//   SIGALRM  resets the connections of the clients; those to the target stay open and silent
//
// Ends when the process that started it has ended.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { pairs_max = 256, buffer_bytes = 65536 };

// The bytes received from one side and not yet sent to the other.
struct flow {
    char bytes[buffer_bytes];
    size_t begin, end;
};

// side[0] is the client's socket; -1 stands for a side that was reset.
struct pair {
    int side[2];
    struct flow from[2];
};

static struct pair *pairs[pairs_max];
static volatile sig_atomic_t is_paused, reset_side = -1;

static void on_signal(int number) {
    switch (number) {
        case SIGUSR1: is_paused = 1; break;
        case SIGUSR2: is_paused = 0; break;
        case SIGHUP: reset_side = 1; break;
        case SIGALRM: reset_side = 0; break;
    }
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static struct sockaddr_in loopback(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int open_listener(int port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;
    struct sockaddr_in address = loopback(port);
    socklen_t length = sizeof address;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listener, (struct sockaddr *) &address, length) != 0) fail("bind");
    if (listen(listener, 128) != 0) fail("listen");
    getsockname(listener, (struct sockaddr *) &address, &length);
    printf("listening %d\n", ntohs(address.sin_port));
    fflush(stdout);
    return listener;
}

static void close_pair(int index) {
    for (int side = 0; side < 2; side++) {
        if (pairs[index]->side[side] >= 0) close(pairs[index]->side[side]);
    }
    free(pairs[index]);
    pairs[index] = NULL;
}

static void accept_client(int listener, int target) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), index = 0, yes = 1;
    if (client < 0) return;
    while (index < pairs_max && pairs[index]) index++;
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = loopback(target);
    if (index == pairs_max
        || connect(server, (struct sockaddr *) &address, sizeof address) != 0) {
        close(client);
        close(server);
        return;
    }
    fcntl(server, F_SETFL, O_NONBLOCK);
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    pairs[index] = calloc(1, sizeof(struct pair));
    pairs[index]->side[0] = client;
    pairs[index]->side[1] = server;
}

// Resets one side of every pair; the other one stays open.
static void reset(int side) {
    struct linger at_once = {1, 0};
    for (int index = 0; index < pairs_max; index++) {
        if (!pairs[index] || pairs[index]->side[side] < 0) continue;
        setsockopt(pairs[index]->side[side], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        close(pairs[index]->side[side]);
        pairs[index]->side[side] = -1;
    }
}

// Moves bytes from one side to the other; returns 0 when a side has closed.
static int forward(struct pair *pair, int source, short events, short target_events) {
    struct flow *flow = &pair->from[source];
    if (events & (POLLIN | POLLHUP | POLLERR) && flow->begin == flow->end) {
        ssize_t count = recv(pair->side[source], flow->bytes, buffer_bytes, 0);
        if (count == 0 || (count < 0 && errno != EAGAIN)) return 0;
        flow->begin = 0;
        flow->end = count > 0 ? (size_t) count : 0;
        target_events |= POLLOUT;
    }
    if (flow->begin < flow->end && target_events & POLLOUT) {
        ssize_t count = send(
            pair->side[!source], flow->bytes + flow->begin, flow->end - flow->begin, MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN) return 0;
        flow->begin += count > 0 ? (size_t) count : 0;
    }
    return 1;
}

int main(int count, char **arguments) {
    if (count != 3) return 64;
    const pid_t starter = getppid();
    const struct timespec starter_check_interval = {1, 0};
    int target = atoi(arguments[2]), listener = open_listener(atoi(arguments[1]));
    struct sigaction action = {.sa_handler = on_signal};
    const int numbers[] = {SIGUSR1, SIGUSR2, SIGHUP, SIGALRM};
    sigset_t handled, unblocked;
    sigemptyset(&handled);
    for (int index = 0; index < 4; index++) {
        sigaction(numbers[index], &action, NULL);
        sigaddset(&handled, numbers[index]);
    }
    // Signals are delivered only in ppoll(), so that none is missed between the check and the wait.
    sigprocmask(SIG_BLOCK, &handled, &unblocked);
    sigemptyset(&unblocked);
    for (;;) {
        struct pollfd polled[1 + 2 * pairs_max] = {{listener, POLLIN, 0}};
        for (int index = 0; index < pairs_max; index++) {
            for (int side = 0; side < 2; side++) {
                struct pollfd *entry = &polled[1 + 2 * index + side];
                struct pair *pair = pairs[index];
                entry->fd = pair && pair->side[0] >= 0 && pair->side[1] >= 0 ? pair->side[side] : -1;
                if (entry->fd < 0) continue;
                if (pair->from[side].begin == pair->from[side].end) entry->events |= POLLIN;
                if (pair->from[!side].begin < pair->from[!side].end) entry->events |= POLLOUT;
            }
        }
        int ready = ppoll(
            polled, is_paused ? 0 : 1 + 2 * pairs_max, &starter_check_interval, &unblocked);
        if (getppid() != starter) return 0;
        if (reset_side >= 0) {
            reset(reset_side);
            reset_side = -1;
            continue;
        }
        if (ready <= 0 || is_paused) continue;
        for (int index = 0; index < pairs_max; index++) {
            struct pollfd *entry = &polled[1 + 2 * index];
            if (entry[0].fd < 0 || !pairs[index]) continue;
            if (!forward(pairs[index], 0, entry[0].revents, entry[1].revents)
                || !forward(pairs[index], 1, entry[1].revents, entry[0].revents))
                close_pair(index);
        }
        if (polled[0].revents & POLLIN) accept_client(listener, target);
    }
}
