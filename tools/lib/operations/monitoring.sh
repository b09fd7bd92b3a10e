# shellcheck shell=bash
# Tries the files of monitoring/.

# Values of the dashboard's variables, for sed.
# shellcheck disable=SC2016 # the names are Grafana's
readonly dashboard_values='s/\$job/account-ledger/g; s/\$instance/.*/g; s/\$__rate_interval/1m/g'

try_monitoring() {
    local directory="$repository/monitoring" used name key
    (cd "$directory" && promtool check config prometheus.yml && promtool check rules alerts.yml &&
        promtool test rules alerts.test.yml) >&2 || fail "promtool refuses a file of monitoring/"
    check_dashboard "$directory/dashboard.json"
    set_up_python_programs grafana "$repository/tools/lib/operations/requirements.txt"
    "$local_directory/grafana/bin/python" "$repository/tools/lib/operations/dashboard.py" "$directory/dashboard.json" >&2 ||
        fail "the dashboard is not one by Grafana's own model"

    make_ledger monitoring
    start_server "$scratch/server.log"
    # Every metric that depends on use: requests, messages, webhooks and sealing.
    # A webhook gets the events after its addition; no receiver listens there.
    "$server_program" webhooks add http://127.0.0.1:9/hook >"$scratch/webhook" 2>&1 || fail "$(cat "$scratch/webhook")"
    sign_in ada >/dev/null
    ask --fail --data '{"address":"gus@example.com"}' "http://$server_address/v1/auth/codes/email" >/dev/null
    eventually 10 is_metric ledger_webhook_attempts_total
    eventually 10 is_metric ledger_messages_total
    eventually 10 is_metric ledger_signed_size
    ask "http://$server_admin_address/metrics" | tee "$scratch/metrics" | promtool check metrics >&2 ||
        fail "promtool refuses /metrics"
    used=$(
        {
            grep -ohE '(ledger|process)_[a-z_]+' "$directory"/alerts.yml
            jq -r '.. | .expr? // empty' "$directory/dashboard.json" | grep -oE '(ledger|process)_[a-z_]+'
        } | sort -u
    )
    for name in $used; do
        grep -qE "^${name}[{ ]" "$scratch/metrics" || fail "/metrics has no $name"
    done
    say "$(wc -l <<<"$used") metrics of the alerts and the dashboard exist"

    # The example, with the address of this server, scrapes it.
    cp "$directory"/*.yml "$scratch/"
    sed -i "s/127\.0\.0\.1:9090/$server_admin_address/; s/interval: 15s/interval: 1s/; /^alerting:/,\$d" "$scratch/prometheus.yml"
    prometheus_address=127.0.0.1:$(free_port)
    prometheus --config.file="$scratch/prometheus.yml" --storage.tsdb.path="$scratch/data" \
        --web.listen-address="$prometheus_address" 2>"$scratch/prometheus.log" &
    at_exit stop_child $! 20
    eventually 20 has_samples
    # Every query of the dashboard is one that Prometheus understands.
    while IFS= read -r key; do
        ask --get --data-urlencode "query=$key" "http://$prometheus_address/api/v1/query" |
            jq -e '.status == "success"' >/dev/null || fail "Prometheus refuses: $key"
    done < <(jq -r '.. | .expr? // empty' "$directory/dashboard.json" | sed "$dashboard_values")
    expect "the number of firing alerts of a sound ledger" 0 \
        "$(ask "http://$prometheus_address/api/v1/alerts" | jq '[.data.alerts[] | select(.state == "firing")] | length')"
    say "Prometheus scrapes the server, and understands $(jq '[.. | .expr? // empty] | length' "$directory/dashboard.json") queries"
}

is_metric() {
    ask "http://$server_admin_address/metrics" | grep -qE "^$1[{ ]"
}

has_samples() {
    ask "http://$prometheus_address/api/v1/query?query=ledger_build_info" 2>/dev/null |
        jq -e '.data.result | length == 1' >/dev/null
}

# Checks the parts of a dashboard that Grafana reads: ids, places that do not overlap, and data sources.
check_dashboard() {
    jq -e '
        def all_unique: length == (unique | length);
        (.schemaVersion | type == "number") and (.uid | length > 0 and length <= 40) and
        ([.panels[].id] | all_unique) and
        ([.panels[] | .gridPos | .x as $x | .y as $y | range(.h) as $h | range(.w) as $w | [$x + $w, $y + $h]] | all_unique) and
        ([.panels[].gridPos | .x + .w <= 24 and .h > 0] | all) and
        ([.panels[] | select(.type != "row") | (.targets | length > 0) and (.title | length > 0) and
            ([.targets[].refId] | all_unique) and
            ([.targets[], .] | map(.datasource.uid == "${datasource}") | all)] | all) and
        ([.templating.list[].name] == ["datasource", "job", "instance"])
    ' "$1" >/dev/null || fail "the dashboard has a panel that Grafana would not show"
}
