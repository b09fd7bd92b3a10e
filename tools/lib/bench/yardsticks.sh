# shellcheck shell=bash
# Measures the baselines: pgbench on the same Postgres, without HTTP or tokens.

# Runs pgbench with these options and prints its transactions per second.
run_pgbench() {
    local answer rate
    answer=$(cd "$scratch" && PGPASSWORD=$(cat "$cluster/$cluster_owner.password") \
        "$(postgres_programs)/pgbench" --no-vacuum --protocol=prepared "$@" --host=127.0.0.1 \
        --port="$(cat "$cluster/port")" --username="$cluster_owner" "$database" 2>&1) ||
        fail "pgbench failed: $answer"
    # pgbench does not always report failed prepared statements as an error.
    [[ ! $answer =~ failed\ transactions:\ [1-9] ]] || fail "pgbench failed: $answer"
    rate=$(sed -n 's/^tps = \([0-9.]*\).*without initial connection time.*/\1/p' <<<"$answer")
    # Its time includes connecting, which can take all of it.
    [[ -n $rate ]] || fail "pgbench did nothing in its time"
    printf '%s\n' "$rate"
}

# Prints the transactions that pgbench logged as "TIME LATENCY CLIENT" in the order of their ends, and
# removes the log.
take_pgbench_log() {
    cat "$scratch/pgbench.log".* | awk '{ printf "%.6f %d %d\n", $5 + $6 / 1e6, $3, $1 }' | sort -n
    rm -f "$scratch/pgbench.log".*
}

# Prints "RATE P50 P99" of such transactions, measured as the load generator measures: after the
# warm-up, and while every client is busy.
figures_of_transactions() {
    awk -v warm_up="$2" '
        { ended[NR] = $1; latency[NR] = $2; last[$3] = $1 }
        END {
            end = ended[NR]
            for (client in last) if (last[client] < end) end = last[client]
            for (n = warm_up + 1; n <= NR && ended[n] <= end; n++) print latency[n] | "sort -n"
            print "window", n - 1 - warm_up, end - ended[warm_up]
        }' "$1" | awk '
        $1 == "window" { count = $2; seconds = $3; next }
        { value[++n] = $1 }
        END {
            p50 = int((n + 1) / 2); p99 = int(n * 0.99); if (p99 < n * 0.99) p99++
            if (n < 50 || seconds <= 0) exit 1
            printf "%.1f %d %d\n", count / seconds, value[p50], value[p99]
        }'
}

# Links with plain SQL transactions on a state-based schema, as many as the ledger's own links:
# measure_bare_sql NAME TIME_IN_ROUND, from 0 on.
measure_bare_sql() {
    local name=$1 each=$((links / connections)) run=$((round * 10 + $2)) rate p50 p99
    psql_as_owner "$cluster" "$database" --set=run="$run" \
        --set=clients="$connections" --set=links_each="$each" \
        --file="$bench_files/state_based_users.sql" >/dev/null
    settle
    run_pgbench --client="$connections" --jobs=2 --transactions="$each" --define=run="$run" \
        --define=n=0 --file="$bench_files/state_based_link.sql" --log --log-prefix=pgbench.log >/dev/null
    take_pgbench_log >"$scratch/transactions"
    read -r rate p50 p99 < <(figures_of_transactions "$scratch/transactions" "$warm_up") ||
        fail "pgbench did too little to be measured"
    record "${name}_per_second" "$rate"
    record "${name}_p50_us" "$p50"
    record "${name}_p99_us" "$p99"
    say_figures "$name" "$rate" "$p50" "$p99"
}

# Writes the scripts, whose row is a link's event from the log.
make_insert_script() {
    ask_database "
        SELECT format('INSERT INTO single_rows (tenant_id, event_id, type, schema_version,
            recorded_at, account_id, account_seq, command_id, request_id, actor, entry)
            VALUES (%L, %L, %L, %s, %L, %L, %s, %L, %L, %L, %L);', tenant_id, event_id, type,
            schema_version, recorded_at, account_id, coalesce(account_seq, 0), command_id,
            request_id, actor, entry)
        FROM events WHERE tenant_id = 'default' AND type = 'ProviderLinked'
        ORDER BY position DESC LIMIT 1" | tr '\n' ' ' >"$scratch/insert.sql"
    [[ -s $scratch/insert.sql ]] || fail "the log contains no link whose row could be inserted"
}

# Inserts one event-sized row per transaction.
measure_insert() {
    local rate
    make_insert_script
    settle
    rate=$(run_pgbench --client="$connections" --jobs=2 --time="$yardstick_seconds" \
        --file="$scratch/insert.sql")
    record insert_per_second "$rate"
    say "Round $round: insert ${rate%.*} a second"
}

# The same with one client, for its latency.
measure_insert_alone() {
    local rate p50 p99
    make_insert_script
    settle
    run_pgbench --client=1 --time="$yardstick_seconds" --file="$scratch/insert.sql" \
        --log --log-prefix=pgbench.log >/dev/null
    take_pgbench_log >"$scratch/transactions"
    read -r rate p50 p99 < <(figures_of_transactions "$scratch/transactions" "$warm_up_at_1") ||
        fail "pgbench did too little to be measured"
    record insert_alone_p50_us "$p50"
    say_figures insert_alone "$rate" "$p50" "$p99"
}

# Selects one row of user_providers by its key.
measure_select() {
    local rows rate
    psql_as_owner "$cluster" "$database" --file="$bench_files/select_rows.sql" >/dev/null
    rows=$(ask_database 'SELECT count(*) FROM select_rows')
    settle
    rate=$(run_pgbench --client="$connections" --jobs=2 --time="$yardstick_seconds" \
        --define=rows="$rows" --file="$bench_files/select_row.sql")
    record select_per_second "$rate"
    say "Round $round: select ${rate%.*} a second"
}
