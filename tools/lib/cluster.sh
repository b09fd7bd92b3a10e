# shellcheck shell=bash
# Starts and stops a private cluster (postgres.sh), even after it or its starter was killed.

# Prints the process id of the cluster's server; fails when none runs.
#
# postmaster.pid alone is not enough: it remains after a kill, and its id may belong to another process.
cluster_process() {
    local id
    id=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) || return 1
    [[ -n $id && /proc/$id/cwd -ef $1/data ]] || return 1
    printf '%s\n' "$id"
}

# Starts the cluster unless it runs; the tool that started it stops it at its end.
start_cluster() {
    local cluster=$1 starter
    if cluster_process "$cluster" >/dev/null; then
        starter=$(cat "$cluster/starter" 2>/dev/null) || true
        if stamp_lives "$starter"; then
            say "The cluster in $cluster is already running; process ${starter%% *} will stop it"
            return
        fi
        say "The cluster in $cluster is still running after its starter was killed: taking it over"
    else
        clear_away_killed_server "$cluster"
        start_server_of_cluster "$cluster"
    fi
    process_stamp $$ | as_cluster_login tee "$cluster/starter" >/dev/null
    at_exit stop_cluster "$cluster"
}

# Removes the lock files of a server that was killed; Postgres then recovers from its log.
#
# Postgres detects stale lock files unless the id now belongs to another process, as after a container's
# restart. The files prevent a second server beside workers of the first, so those must have ended.
clear_away_killed_server() {
    local cluster=$1 waited=0
    [[ -e $cluster/data/postmaster.pid ]] || return 0
    say "The cluster in $cluster was killed: it will recover"
    while cluster_has_processes "$cluster"; do
        ((waited < cluster_seconds_max * 10)) ||
            fail "workers of the killed server are still running in $cluster/data; end them first"
        sleep 0.1
        waited=$((waited + 1))
    done
    as_cluster_login rm -f "$cluster/data/postmaster.pid"
    [[ ! -d $cluster/socket ]] || as_cluster_login find "$cluster/socket" -name '.s.PGSQL.*' -delete
}

# Checks whether the cluster's data directory is a process's working directory, as for all of a server's.
cluster_has_processes() {
    local directory
    for directory in /proc/[0-9]*/cwd; do
        if [[ $directory -ef $1/data ]]; then
            return 0
        fi
    done
    return 1
}

# A port can be taken between the check and the start, so there are a few attempts.
start_server_of_cluster() {
    local cluster=$1 try programs mark
    programs=$(postgres_programs)
    for try in 1 2 3 4 5; do
        write_cluster_settings "$cluster" "$try"
        mark=$(stat -c %s "$cluster/postgres.log" 2>/dev/null || echo 0)
        if as_cluster_login "$programs/pg_ctl" start --wait --timeout="$cluster_seconds_max" \
            --silent --pgdata="$cluster/data" --log="$cluster/postgres.log" >/dev/null 2>&1; then
            return
        fi
        tail -c "+$((mark + 1))" "$cluster/postgres.log" |
            grep -q 'Address already in use' || break
        sleep 1
    done
    fail "Postgres does not start: $(tail -n 3 "$cluster/postgres.log")"
}

# Writes the settings that make the cluster private, and those in `cluster_settings`; everything else is
# Postgres's default.
write_cluster_settings() {
    local cluster=$1 try=$2 port sockets=''
    port=$(cat "$cluster/port" 2>/dev/null) || port=''
    if [[ -z $port || $try -gt 1 ]] || is_listening 127.0.0.1 "$port"; then
        port=$(free_port)
    fi
    if ((${#cluster} + 7 <= socket_directory_bytes_max)); then
        as_cluster_login mkdir -p -m 700 "$cluster/socket"
        sockets="\"${cluster//\'/\'\'}/socket\""
    fi
    as_cluster_login tee "$cluster/port" >/dev/null <<<"$port"
    as_cluster_login tee "$cluster/data/private.conf" >/dev/null <<SETTINGS
# Written at each start.
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$sockets'
# Tests run so many servers at a time that the default of 100 would not suffice.
max_connections = 300
${cluster_settings-}
SETTINGS
}

# Prints a free port below those that the kernel assigns to outgoing connections.
free_port() {
    local port try
    for ((try = 0; try < 100; try++)); do
        port=$((20000 + RANDOM % 12000))
        if ! is_listening 127.0.0.1 "$port"; then
            printf '%s\n' "$port"
            return
        fi
    done
    fail "found no free port on 127.0.0.1"
}

# Stops the cluster with a fast shutdown: connections are ended, everything is flushed.
stop_cluster() {
    local cluster=$1
    cluster_process "$cluster" >/dev/null || return 0
    say "Stopping the cluster in $cluster"
    as_cluster_login "$(postgres_programs)/pg_ctl" stop --mode=fast --wait --silent \
        --timeout="$cluster_seconds_max" --pgdata="$cluster/data" >/dev/null
    as_cluster_login rm -f "$cluster/starter"
}

# Starts a temporary cluster for this tool and sets `cluster` to its directory: output capture would run
# this in a subshell, whose exit commands would be lost.
start_throw_away_cluster() {
    local name=$1
    remove_abandoned_clusters "$name"
    cluster=$(make_cluster_directory "$name.$$")
    at_exit remove_cluster "$cluster"
    create_cluster "$cluster"
    start_cluster "$cluster"
}

# Starts a temporary cluster for tests and exports its URL.
#
# Its tests need no durability; tests of crashes make their own clusters. Nor do they need the thousands of
# iterations of SCRAM, which take milliseconds of each connection and matter for passwords that can be guessed:
# these are random.
start_cluster_of_tests() {
    # shellcheck disable=SC2034 # for this file and postgres.sh
    cluster_settings='fsync = off'
    cluster_parent=$(directory_in_memory) || cluster_parent=''
    start_throw_away_cluster "$1"
    # On standard input, so that it is not visible in the list of processes.
    /usr/bin/python3 "$repository/tools/lib/scram.py" "$cluster_owner" <"$cluster/$cluster_owner.password" |
        psql_as_owner "$cluster" postgres
    TEST_DATABASE_URL=$(cluster_url "$cluster" "$cluster_owner" postgres)
    export TEST_DATABASE_URL
}

# Removes the files of killed runs of the same tool.
remove_abandoned_clusters() {
    local entry
    for entry in "$local_directory/$1".*; do
        [[ -e $entry || -L $entry ]] || continue
        # In a container each run may have the same process id.
        [[ ! -d /proc/${entry##*.} || ${entry##*.} == "$$" ]] || continue
        say "Removing the files of a killed run in $entry"
        remove_cluster "$(readlink -f "$entry")"
    done
}

# Stops a temporary cluster immediately and deletes it.
remove_cluster() {
    local cluster=$1 link
    link="$local_directory/$(basename "$cluster")"
    if cluster_process "$cluster" >/dev/null; then
        as_cluster_login "$(postgres_programs)/pg_ctl" stop --mode=immediate --wait --silent \
            --timeout="$cluster_seconds_max" --pgdata="$cluster/data" >/dev/null
    fi
    # Deletes only directories made by this file, whose names have a process id.
    if [[ $cluster =~ /[a-z-]+\.[0-9]+$ ]]; then
        rm -rf -- "$cluster"
    fi
    if [[ -L $link ]]; then
        rm -f -- "$link"
    fi
}
