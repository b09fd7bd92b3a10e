# shellcheck shell=bash
# Measures the lag of the read models behind the log, and how fast they catch up.

# Samples the lag of `default` every 50 ms until lag_ends has a row.
sample_lag() {
    psql_as_owner "$cluster" "$database" --file="$bench_files/sample_lag.sql" >/dev/null
}

record_lag() {
    local seconds events
    IFS='|' read -r seconds events < <(ask_database \
        'SELECT round(coalesce(max(seconds), 0), 3), coalesce(max(events), 0) FROM lag_samples')
    record lag_seconds "$seconds"
    record lag_events "$events"
    say "Round $round: the read models lagged at most $events events, $seconds s"
}

# Appends while this tool locks the checkpoints, as a projector of another process would; then releases
# them and measures how fast the projector catches up.
measure_drain() {
    local held='' events seconds
    mint_tokens apple "drain$round" "$links" "$scratch/drain"
    requests_with_tokens POST /v1/auth/sign-in/apple "$scratch/drain" >"$scratch/draining"
    settle
    coproc holder { psql_as_owner "$cluster" "$database" --tuples-only --no-align; }
    # The shell unsets these two as soon as the process has ended.
    local from=${holder[0]} to=${holder[1]} process=$!
    exec {answers}<&"$from" {orders}>&"$to"
    printf '%s\n' 'BEGIN;' "SELECT name FROM projections WHERE tenant_id = 'default' FOR UPDATE;" \
        '\echo held' >&"$orders"
    while read -r -t 30 held <&"$answers" && [[ $held != held ]]; do :; done
    [[ $held == held ]] || fail "the checkpoints could not be locked"
    send_all "$scratch/draining" "$connections" --expect access_token >/dev/null
    cat "$bench_files/drain.sql" >&"$orders"
    exec {orders}>&-
    exec {to}>&-
    IFS='|' read -r -t "$run_seconds_max" events seconds <&"$answers" ||
        fail "the projector did not catch up"
    wait "$process"
    ((events >= links)) || fail "only $events events were left to be folded"
    record drain_per_second "$(awk -v n="$events" -v s="$seconds" 'BEGIN { printf "%.1f", n / s }')"
    say "Round $round: $events events were folded in $seconds s"
}
