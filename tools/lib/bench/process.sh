# shellcheck shell=bash
# Measures processes: processor time, memory, time to start.

# Prints the processor time in microseconds that processes have used so far, including that of their ended
# children: a process of Postgres that ends in between must not reduce the sum.
cpu_of() {
    local process ticks=0 line fields
    for process in "$@"; do
        line=$(cat "/proc/$process/stat" 2>/dev/null) || continue
        # The name in parentheses may contain spaces.
        read -ra fields <<<"${line##*) }"
        ticks=$((ticks + fields[11] + fields[12] + fields[13] + fields[14]))
    done
    printf '%s\n' "$((ticks * 1000000 / $(getconf CLK_TCK)))"
}

# Drops a program's file from the page cache: from that of a file that was just written, the kernel maps up
# to 3 MiB more into each of its processes.
drop_cached_pages() {
    sync "$1"
    dd if="$1" iflag=nocache count=0 status=none
}

# Prints the stolen ticks of the processors, which a hypervisor gave to others, and all ticks.
processor_ticks() {
    awk '$1 == "cpu" { for (n = 2; n <= 9; n++) all += $n; print $9, all }' /proc/stat
}

# Records the percentage of ticks stolen since: record_stolen STOLEN ALL.
record_stolen() {
    local stolen all
    read -r stolen all < <(processor_ticks)
    record stolen_percent \
        "$(awk -v s="$((stolen - $1))" -v a="$((all - $2))" 'BEGIN { printf "%.1f", a ? 100 * s / a : 0 }')"
}

cpu_of_server() {
    cpu_of "$server_process"
}

cpu_of_postgres() {
    local postmaster children
    postmaster=$(cluster_process "$cluster")
    children=$(cat "/proc/$postmaster/task/$postmaster/children" 2>/dev/null) || children=''
    # shellcheck disable=SC2086 # a list of numbers
    cpu_of "$postmaster" $children
}

# Measures the server's peak memory.
measure_memory() {
    local kibibytes
    kibibytes=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$server_process/status")
    [[ -n $kibibytes ]] || fail "the server's memory can't be read"
    record server_mib "$(awk -v k="$kibibytes" 'BEGIN { printf "%.1f", k / 1024 }')"
    say "The server's peak memory was $((kibibytes / 1024)) MiB"
}

# Starts another server on the same database and measures the time until its /readyz answers 200.
measure_start() {
    local began port server_process status=0 milliseconds
    port=$(free_port)
    began=$EPOCHREALTIME
    LEDGER_LISTEN=127.0.0.1:$port launch_server "$server_log.started"
    "$load_program" ready "$port" "$ready_seconds_max" || status=$?
    milliseconds=$(((${EPOCHREALTIME/./} - ${began/./}) / 1000))
    stop_child "$server_process" "$stop_seconds_max"
    ((status == 0)) || fail "the server did not become ready; see $server_log.started"
    record start_ms "$milliseconds"
    say "The server was ready after $milliseconds ms"
}
