# shellcheck shell=bash
# Tries a full disk under Postgres, on a small file system in memory.

try_disk() {
    [[ $EUID -eq 0 ]] || fail "the part 'disk' needs root, to mount a file system"
    local disk="$scratch/disk" before
    mkdir "$disk"
    chmod 711 "$scratch" "$disk"
    mount -t tmpfs -o size=400m,mode=711 tmpfs "$disk"
    at_exit umount "$disk"
    # shellcheck disable=SC2034 # postgres.sh reads it
    cluster_parent=$disk
    make_ledger disk
    start_server "$scratch/server.log"
    sign_in ada >/dev/null
    before=$(metric 'ledger_head_position{tenant="default"}')

    say "The disk is full"
    as_cluster_login dd if=/dev/zero of="$cluster/ballast" bs=1M status=none 2>/dev/null || true
    eventually 60 is_refused_and_not_ready
    ask "http://$server_admin_address/readyz" >&2
    grep -m 1 '"msg":"sequencer fault"' "$scratch/server.log" >&2
    say "There is space again"
    as_cluster_login rm "$cluster/ballast"
    eventually 60 signs_in bea
    eventually 10 is_ready
    (($(metric 'ledger_head_position{tenant="default"}') > before)) || fail "nothing was appended"
    "$server_program" verify >&2
}

signs_in() {
    sign_in "$1" >/dev/null 2>&1
}

# Signs new people in: a flush that extends no file succeeds, and readiness is judged by the last commands.
is_refused_and_not_ready() {
    ! sign_in "person-$RANDOM-$RANDOM" >/dev/null 2>&1 && ! is_ready
}

is_ready() {
    [[ $(curl --silent --output /dev/null --write-out '%{http_code}' "http://$server_admin_address/readyz") == 200 ]]
}
