# shellcheck shell=bash
# Measures the cost of sealing: the same links with and without a working sealer.

# Links different people with and without sealing; the order alternates between rounds, because the log
# grows.
measure_sealing() {
    local people=$((2 * links)) first=sealed second=unsealed
    mint_tokens apple "sealing$round" "$people" "$scratch/apple-to-seal"
    mint_tokens google "sealing$round" "$people" "$scratch/google-to-seal"
    sign_in_new_people /v1/auth/sign-in/apple "$scratch/apple-to-seal" "$scratch/to-seal" >/dev/null
    requests_with_tokens POST /v1/auth/link/google "$scratch/google-to-seal" \
        "$scratch/to-seal.access" >"$scratch/linking-to-seal"
    head -n "$links" "$scratch/linking-to-seal" >"$scratch/linking-first"
    tail -n "$links" "$scratch/linking-to-seal" >"$scratch/linking-second"
    if ((round % 2 == 1)); then
        first=unsealed second=sealed
    fi
    "measure_$first" "$scratch/linking-first"
    "measure_$second" "$scratch/linking-second"
}

measure_sealed() {
    local began
    wait_until_sealed
    began=$(ask_database 'SELECT clock_timestamp()')
    measure_linking link_sealed "$1"
    wait_until_sealed
    record sealing_p99_ms "$(ask_sealing_time "$began")"
}

# Prints the 99th percentile in milliseconds of the time from an event to its published checkpoint, for the
# events since a moment. An event's time is before its commit, so the time since the commit is shorter.
ask_sealing_time() {
    ask_database "SELECT round(1000 * percentile_disc(0.99) WITHIN GROUP (
            ORDER BY extract(epoch FROM c.signed_at - e.recorded_at)))
        FROM events e CROSS JOIN LATERAL (
            SELECT signed_at FROM checkpoints
            WHERE tenant_id = e.tenant_id AND size > e.position ORDER BY size LIMIT 1) c
        WHERE e.recorded_at >= '$1'"
}

hold_leases() {
    while true; do
        ask_database "UPDATE sealer_leases SET expires_at = clock_timestamp() + interval '4 s',
            holder = '00000000-0000-0000-0000-000000000001'"
        sleep 1
    done >/dev/null
}

# Another holder of the leases stops the server's sealer; a lease that is not renewed lapses.
measure_unsealed() {
    local holder status=0
    wait_until_sealed
    hold_leases &
    holder=$!
    sleep 0.5
    (measure_linking link_unsealed "$1") || status=$?
    kill "$holder" 2>/dev/null || true
    wait "$holder" 2>/dev/null || true
    ((status == 0)) || fail "links that are not sealed could not be measured"
    local sealed
    sealed=$(ask_database 'SELECT sum(size) FROM (SELECT max(size) AS size FROM checkpoints GROUP BY tenant_id) s')
    ((sealed < $(events_in_log))) || fail "links were sealed that should not have been"
}

# Records the rate and the cost of a link: NAME REQUESTS.
measure_linking() {
    measure_appending "$1" 1 "$2" "$connections" --warm-up "$warm_up" --expect 'linked successfully'
}

wait_until_sealed() {
    local waited=0
    until [[ $(ask_database "SELECT count(*) FROM ledger_head h WHERE NOT EXISTS (
        SELECT FROM checkpoints c WHERE c.tenant_id = h.tenant_id AND c.size >= h.next_position)") == 0 ]]; do
        ((waited < run_seconds_max * 10)) || fail "the sealer does not catch up"
        sleep 0.1
        waited=$((waited + 1))
    done
}
