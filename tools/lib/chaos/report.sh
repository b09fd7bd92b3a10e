# shellcheck shell=bash
# Runs a suite of the end-to-end tests for tools/chaos and tools/overload, and prints a report.

# Runs a suite against the release server. Sets `report` to the path of the JSON report, `suite_log` to the
# path of the suite's log, and `suite_status` to its exit status.
run_end_to_end_suite() {
    local suite=$1 name=$2 rounds=$3 lines
    mkdir -p "$local_directory/$name"
    report="$local_directory/$name/$(date -u +%Y%m%dT%H%M%SZ).json"
    suite_log="$local_directory/$name/tests.log"
    lines=$(mktemp)
    at_exit rm -f "$lines"
    say "Building the tests (swift build --build-tests)"
    run_interruptibly swift build "${swift_build_options[@]}" --build-tests >&2 ||
        fail "the build failed"
    say "Running $suite, $rounds rounds of each test; its log is $suite_log"
    export LEDGER_CHAOS_ROUNDS=$rounds LEDGER_CHAOS_REPORT=$lines
    export ACCOUNT_LEDGER_BINARY=$server_program
    suite_status=0
    run_interruptibly swift test "${swift_build_options[@]}" --skip-build --filter "$suite" \
        >"$suite_log" 2>&1 || suite_status=$?
    jq --slurp --arg commit "$(git -C "$repository" rev-parse --short HEAD 2>/dev/null)" \
        '{commit: $commit, results: .}' "$lines" >"$report"
}

# Prints a report as a table: the report, the table's head, and a jq expression that maps a result to a row.
print_report() {
    say "Written to $1"
    {
        printf '%s\n' "$2"
        jq -r ".results[] | $3 | map(tostring) | join(\"|\")" "$1"
    } | column -t -s '|'
}

# Prints a report as a table in Markdown, with the arguments of print_report.
print_markdown() {
    say "Written to $1"
    jq -r --arg head "$2" "
        def row: \"| \" + (map(tostring) | join(\" | \")) + \" |\";
        (\$head / \"|\" | row, (map(\"---\") | row)), (.results[] | $3 | row)" "$1"
}
