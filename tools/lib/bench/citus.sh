# shellcheck shell=bash
# Measures links on Citus, a coordinator and two workers of this machine, beside Postgres alone.

# A measurement each: its name, the number of tenants, and the number of connections.
readonly citus_works=('one 1 640' 'ten 10 640' 'hundred 100 640' 'hundred_64 100 64')
# The process, the address and the coordinator of each server, and the clusters of its engine.
declare -A servers nodes
# The load generator needs twice as many requests as connections, beyond the warm-up.
readonly citus_links_min=2560

# Starts both engines with a server on each, runs the rounds, and records the figures.
measure_citus() {
    start_engine plain
    start_engine citus
    measure_rounds measure_works
    # One server at a time: each looks over all tenants, and folds and counts what the other one commits.
    stop_child "${servers[citus]%% *}" "$stop_seconds_max"
    # A server whose database is a worker's, which plans the statements itself.
    launch_on_worker
    measure_rounds attempt citus measure_spread worker hundred 100 640
}

# Runs a command in each round; the first one is the warm-up.
measure_rounds() {
    local full=$((links < citus_links_min ? citus_links_min : links))
    for ((round = 0; round <= rounds; round++)); do
        links=$((round ? full : citus_links_min))
        "$@"
    done
}

# Measures each work on both engines.
measure_works() {
    local engine work name count width
    for work in "${citus_works[@]}"; do
        read -r name count width <<<"$work"
        for engine in plain citus; do
            attempt citus measure_spread "$engine" "$name" "$count" "$width"
        done
    done
}

# Starts a throw-away cluster, or three that form one of Citus, and a server: start_engine NAME.
start_engine() {
    local number node
    if [[ $1 == plain ]]; then
        start_throw_away_cluster bench
        citus_clusters=("$cluster")
        use_cluster "$cluster"
    else
        citus_clusters=()
        cluster_settings=$citus_settings
        for node in bench-worker-a bench-worker-b bench-coordinator; do
            start_throw_away_cluster "$node"
            trust_connections_of_nodes "$cluster"
            citus_clusters+=("$cluster")
            use_cluster "$cluster"
        done
        cluster_settings=''
        join_nodes
    fi
    for node in "${citus_clusters[@]}"; do
        cluster=$node require_durability
    done
    export LEDGER_KEYS="$scratch/keys-$1"
    "$server_program" migrate >&2 || fail "the migration failed"
    # Its start begins the ledger.
    start_server "$local_directory/bench/server-$1.log"
    say "Creating $tenants tenants on $1"
    for ((number = 1; number <= tenants; number++)); do
        "$server_program" tenant create "bench-$number" >/dev/null || fail "tenant create failed"
    done
    stop_child "$server_process" "$stop_seconds_max"
    start_server "$local_directory/bench/server-$1.log"
    look_up_keys "$1"
    servers[$1]="$server_process $server_address $cluster"
    nodes[$1]=${citus_clusters[*]}
}

# Has the server look up the keys of both issuers, which it serves itself: beside 640 connections it would not answer:
# look_up_keys ENGINE.
look_up_keys() {
    local issuer
    for issuer in apple google; do
        mint_tokens "$issuer" "keys-$1" 128 "$scratch/keys.$issuer"
        tenants=1 warm_up=0 sign_in_new_people \
            "/t/bench-%d/v1/auth/sign-in/$issuer" "$scratch/keys.$issuer" "$scratch/keys" >/dev/null
    done
}

# Makes the last cluster the coordinator of the others.
join_nodes() {
    local node workers=("${citus_clusters[@]}")
    unset 'workers[-1]'
    for node in "${citus_clusters[@]}"; do
        psql_as_owner "$node" "$database" <<<'CREATE EXTENSION citus'
    done
    psql_as_owner "$cluster" "$database" --output=/dev/null \
        <<<"SELECT citus_set_coordinator_host('127.0.0.1', $(cat "$cluster/port"))"
    for node in "${workers[@]}"; do
        psql_as_owner "$cluster" "$database" --output=/dev/null \
            <<<"SELECT citus_add_node('127.0.0.1', $(cat "$node/port"))"
    done
}

# Starts a server that is connected to the first worker's database.
launch_on_worker() {
    DATABASE_URL=$(cluster_url "${citus_clusters[0]}" "$application_login" "$database")
    start_server "$local_directory/bench/server-worker.log"
    look_up_keys worker
    # The figures of the database are read from the coordinator.
    servers[worker]="$server_process $server_address $cluster"
    nodes[worker]=${nodes[citus]}
}

# Links identities of as many new people over tenants in turn, and records the rate and the processor time of a link
# of each node: measure_spread ENGINE NAME TENANTS CONNECTIONS.
measure_spread() {
    local name="$1_$2" tenants=$3 width=$4 answer node before=() number=0
    local server_log="$local_directory/bench/server-$1.log"
    read -r server_process server_address cluster <<<"${servers[$1]}"
    read -ra citus_clusters <<<"${nodes[$1]}"
    mint_tokens apple "$name$round" "$links" "$scratch/spread.apple"
    mint_tokens google "$name$round" "$links" "$scratch/spread.google"
    sign_in_new_people '/t/bench-%d/v1/auth/sign-in/apple' "$scratch/spread.apple" "$scratch/spread" >/dev/null
    requests_with_tokens POST '/t/bench-%d/v1/auth/link/google' "$scratch/spread.google" \
        "$scratch/spread.access" >"$scratch/spread.linking"
    settle
    for node in "${citus_clusters[@]}"; do
        psql_as_owner "$node" "$database" <<<'CHECKPOINT'
        before+=("$(cluster=$node cpu_of_postgres)")
    done
    answer=$(send_all "$scratch/spread.linking" "$width" --warm-up "$warm_up" --expect 'linked successfully')
    record_figures "$name" "$answer"
    for node in "${citus_clusters[@]}"; do
        record "${name}_node_${number}_cpu_us" "$((($(cluster=$node cpu_of_postgres) - before[number]) / links))"
        number=$((number + 1))
    done
}
