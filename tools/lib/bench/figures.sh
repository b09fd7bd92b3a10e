# shellcheck shell=bash
# The two sides of tools/bench, one run of each, and what is made of the figures.

export BENCH_SCRIPTS="$repository/tools/lib/bench"
export BENCH_THREADS=2
readonly connections=64
# A run that takes longer has failed.
readonly run_seconds_max=120

# Runs one wrk script to its end and prints its result: "<successes> <failures> <seconds>".
run_wrk() {
    local threads=$1 script=$2 answer
    shift 2
    answer=$(wrk --threads "$threads" --connections "$connections" --timeout 30s \
        --duration "${run_seconds_max}s" --script "$BENCH_SCRIPTS/$script" \
        "http://$server_address" -- "$@") || fail "wrk failed: $answer"
    sed -n 's/^result //p' <<<"$answer"
}

# Runs collect.lua, which must succeed for each of its requests, and prints how many it did a second.
collect() {
    local answers failures seconds
    read -r answers failures seconds < <(run_wrk 1 collect.lua "$@")
    [[ $answers == "$4" && $failures == 0 ]] ||
        fail "preparing '$1' gave $answers of $4 answers and $failures failures; see $server_log"
    awk -v n="$answers" -v s="$seconds" 'BEGIN { printf "%.0f\n", n / s }'
}

# Prints the number of links in the log.
links_in_log() {
    psql_as_owner "$cluster" "$application_database" --tuples-only --no-align \
        <<<"SELECT count(*) FROM events WHERE type = 'ProviderLinked'"
}

# Both sides begin a run with nothing left to write from before.
settle() {
    psql_as_owner "$cluster" "$application_database" <<<'CHECKPOINT'
}

# Signs in new people with Apple, then measures linking a Google identity to each of them.
# Prints links a second.
measure_ledger() {
    local run=$1 links=$2 before after linked failures seconds sign_ins
    collect tokens apple "run$run-" "$links" "$scratch/apple" >/dev/null
    collect tokens google "run$run-" "$links" "$scratch/google" >/dev/null
    sign_ins=$(collect sign-ins apple "$scratch/apple" "$links" "$scratch/access")
    settle
    before=$(links_in_log)
    read -r linked failures seconds < <(run_wrk "$BENCH_THREADS" link.lua \
        "$scratch/access" "$scratch/google" google)
    after=$(links_in_log)
    [[ $failures == 0 && $linked -gt 0 ]] ||
        fail "run $run: $linked links and $failures failures; see $server_log"
    # Those on their way when the run ended are in the log and not in the figure, never the reverse.
    ((after - before >= linked && after - before <= links)) ||
        fail "run $run: $linked links were answered and $((after - before)) are in the log"
    say "Run $run: $linked links in $(printf '%.2f' "$seconds") s (while preparing: $sign_ins sign-ins a second)"
    awk -v n="$linked" -v s="$seconds" 'BEGIN { printf "%.0f\n", n / s }'
}

# Measures the same number of links as bare SQL transactions. Prints links a second.
measure_state_based() {
    local run=$1 each=$(($2 / connections)) answer
    psql_as_owner "$cluster" "$application_database" --set=run="$run" \
        --set=clients="$connections" --set=links_each="$each" \
        --file="$BENCH_SCRIPTS/state_based_users.sql" >/dev/null
    settle
    answer=$(PGPASSWORD=$(cat "$cluster/$cluster_owner.password") \
        "$(postgres_programs)/pgbench" --no-vacuum --protocol=prepared --client="$connections" \
        --jobs="$BENCH_THREADS" --transactions="$each" --define=run="$run" --define=n=0 \
        --file="$BENCH_SCRIPTS/state_based_link.sql" --host=127.0.0.1 \
        --port="$(cat "$cluster/port")" --username="$cluster_owner" "$application_database" 2>&1) ||
        fail "pgbench failed: $answer"
    say "Run $run: $(grep -o 'number of transactions actually processed.*' <<<"$answer")"
    sed -n 's/^tps = \([0-9]*\).*without initial connection time.*/\1/p' <<<"$answer"
}

# Makes the result's JSON of the two sides' figures, one argument each: "f1 f2 f3".
summarise() {
    jq -n --arg ledger "$1" --arg state "$2" --arg at "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
        --arg commit "$(git -C "$repository" describe --always --dirty 2>/dev/null || echo unknown)" \
        --arg processor "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)" \
        --arg cores "$(nproc)" --arg links "$3" --arg connections "$connections" \
        --arg postgres "$("$(postgres_programs)/postgres" --version)" '
        def side: split(" ") | map(tonumber) | sort
            | { links_per_second: .[1], lowest: .[0], highest: .[2],
                spread_percent: ((.[2] - .[0]) * 1000 / .[1] | round / 10) };
        { at: $at, commit: $commit, processor: $processor, cores: ($cores | tonumber),
          postgres: $postgres, connections: ($connections | tonumber),
          links_per_run: ($links | tonumber),
          ledger: ($ledger | side), state_based: ($state | side) }
        | .ratio = (.ledger.links_per_second * 1000 / .state_based.links_per_second | round / 1000)'
}

# Prints the result as a table.
print_table() {
    jq -r '
        def row($name; $side): "| \($name) | \($side.links_per_second) | \($side.lowest) to \($side.highest) | \($side.spread_percent) % |";
        "| Durable links a second, \(.connections) connections, median of 3 | median | range | spread |",
        "|---|---|---|---|",
        row("account-ledger over HTTP, RS256 tokens"; .ledger),
        row("pgbench, state-based bare SQL transaction"; .state_based),
        "",
        "Ratio: \(.ratio). \(.links_per_run) links a run; \(.cores) cores of \(.processor), which also ran the load; \(.postgres)."' "$1"
}
