# shellcheck shell=bash
# Measures long logs: replaying one, beside copying it out of Postgres, and linking at the end of one.

# Creates a database with a migrated ledger of the given number of events and points everything at it. The
# events are a random history that `ledger-load` decides by the model; MODE is `serving` if a server will
# use it.
make_long_log() {
    local name=$1 events=$2 mode=$3 encryption_key mac_key
    local -a begun=()
    say "Creating a log of $events events"
    ask_database "CREATE DATABASE $name"
    point_at "$name"
    "$server_program" migrate >&2 || fail "the migration failed"
    if [[ $mode == serving ]]; then
        # The executable begins the log, with its mode and keys, instead of the history's first event.
        begin_log
    fi
    [[ -x $log_program ]] || fail "there is no ledger-load, which makes long logs"
    encryption_key=$(compgen -G "$LEDGER_KEYS/encryption-*.key" | head -n 1) || true
    [[ -n $encryption_key ]] || fail "there is no encryption key in the key directory"
    mac_key=$(compgen -G "$LEDGER_KEYS/mac-*.key" | head -n 1) || true
    [[ -n $mac_key ]] || fail "there is no MAC key in the key directory"
    if [[ $mode == serving ]]; then
        # MACs identify the log by its first event.
        begun=("$(ask_database 'SELECT event_id FROM events WHERE position = 0')")
    fi
    "$log_program" "$events" 1 "$encryption_key" "$mac_key" "${begun[@]}" |
        psql_as_owner "$cluster" "$database" >/dev/null || fail "the log could not be created"
}

# Begins the log of an empty ledger, without the rules that a server records, and deletes its head.
begin_log() {
    "$server_program" tenant create default >&2 || fail "the log could not be begun"
    # With DELETE, because guards refuse TRUNCATE of the head's table.
    ask_database 'DELETE FROM ledger_head'
}

# Points the executable and this tool's own queries at a database of the cluster.
point_at() {
    database=$1
    DATABASE_URL=$(cluster_url "$cluster" "$application_login" "$database")
    LEDGER_MIGRATE_URL=$(cluster_url "$cluster" "$cluster_owner" "$database")
    export DATABASE_URL LEDGER_MIGRATE_URL
}

# Runs a command and prints "SECONDS KIBIBYTES": its time and its peak memory.
timed() {
    /usr/bin/time --output="$scratch/timed" --format='%e %M' "$@" >"$scratch/timed.output" 2>&1 ||
        fail "$(basename "$1") $2 failed: $(tail -n 3 "$scratch/timed.output")"
    cat "$scratch/timed"
}

# Alternately copies a log out of Postgres, checks it with `verify`, and refolds user_providers. The log is
# sealed before, with a checkpoint every few thousand events, so that `verify` also checks the whole tree
# and its signatures.
measure_replay() {
    local run accounts began checkpoints allowed bundle="$scratch/bundle.tar"
    # A different database from the server's, so a different sealer directory.
    local -x LEDGER_SEALER_STATE="$scratch/sealer-of-replay"
    make_long_log replayed "$replayed_events" reading
    "$server_program" seal --once >&2 || fail "the log could not be sealed"
    checkpoints=$(ask_database 'SELECT count(*) FROM checkpoints')
    say "The log has $checkpoints checkpoints"
    ((checkpoints > 0)) || fail "nothing of the log is signed"
    accounts=$(ask_database 'SELECT count(*) FROM accounts')
    allowed=$(awk -v n="$accounts" 'BEGIN { printf "%.1f", 64 + n * 256 / 1048576 }')
    ask_database CHECKPOINT
    # The first read of the data is from the disk.
    ask_database 'COPY events TO STDOUT' >/dev/null
    for ((run = 1; run <= rounds; run++)); do
        began=$EPOCHREALTIME
        ask_database 'COPY events TO STDOUT' >/dev/null
        record verify_allowed_mib "$allowed"
        record copy_seconds \
            "$(awk -v b="$began" -v e="$EPOCHREALTIME" 'BEGIN { printf "%.3f", e - b }')"
        if is_wanted replay; then
            measure_reading verify verify
        fi
        if is_wanted rebuild; then
            measure_reading rebuild rebuild user_providers
        fi
        if is_wanted export; then
            measure_reading export export --all --output "$bundle"
            measure_reading offline verify --offline "$bundle"
            rm "$bundle"
        fi
    done
}

# Runs a subcommand that reads the whole log: measure_reading NAME SUBCOMMAND...
measure_reading() {
    local name=$1 seconds kibibytes
    shift
    read -r seconds kibibytes < <(timed "$server_program" "$@")
    record "${name}_seconds" "$seconds"
    record "${name}_mib" "$(awk -v k="$kibibytes" 'BEGIN { printf "%.1f", k / 1024 }')"
    say "$* took $seconds s and $((kibibytes / 1024)) MiB"
}

# Alternately links at the end of a short log and of a long one.
measure_large() {
    local small_server small_address large_server large_address
    serve_long_log short_log "$small_events"
    small_server=$server_process small_address=$server_address
    serve_long_log long_log "$large_events"
    large_server=$server_process large_address=$server_address
    links=$((links > 12800 ? 12800 : links)) alone=0
    for ((round = 1; round <= rounds; round++)); do
        point_at short_log
        server_process=$small_server server_address=$small_address
        link_new_people link_small
        point_at long_log
        server_process=$large_server server_address=$large_address
        link_new_people link_large
    done
    stop_child "$small_server" "$stop_seconds_max"
    stop_child "$large_server" "$stop_seconds_max"
}

# Creates a long log, seals it and starts a server on it, whose sealer then has no backlog.
serve_long_log() {
    local -x LEDGER_SEALER_STATE="$scratch/sealer-of-$1"
    make_long_log "$1" "$2" serving
    "$server_program" seal --once >&2 || fail "the log could not be sealed"
    start_server "$server_log.$1"
}

# Signs people in and links an identity to each.
link_new_people() {
    prepare_round append_long_per_second
    requests_with_tokens POST /v1/auth/link/google "$scratch/people.google" \
        "$scratch/people.session.access" >"$scratch/linking"
    measure_appending "$1" 1 "$scratch/linking" "$connections" --warm-up "$warm_up" \
        --expect 'linked successfully'
}
