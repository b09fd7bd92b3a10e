# shellcheck shell=bash
# Measures the pages for people in Chromium, on a long log.

# Creates a sealed log, starts a server on it, and has the pages' times and sizes measured.
measure_pages() {
    local name value
    # Permits the sign-ins that give an account its events.
    local -x LEDGER_SIGN_IN_LIMIT=1000000
    serve_long_log paged "$replayed_events"
    # The axe checker of the browser's driver has no part in this.
    LEDGER_URL=http://$server_address AXE_SOURCE=/dev/null \
        node "$bench_files/pages.mjs" "$page_runs" >"$scratch/pages" || fail "the pages could not be measured"
    while read -r name value; do
        record "$name" "$value"
    done <"$scratch/pages"
    stop_child "$server_process" "$stop_seconds_max"
}
