# shellcheck shell=bash
# Removes what is left of the machines of tools/chaos --failover when its tests are killed: their processes, their
# network and their files. The tests use the number as a part of all names.

readonly machines_directory=/tmp/ledger-failover

remove_machines() {
    local directory="$machines_directory-$1" machine
    # Patroni starts Postgres again, so once is not enough.
    while kill_processes_below "$directory"; do
        sleep 0.1
    done
    for machine in 1 2 3; do
        ip netns delete "ledger$1-$machine" 2>/dev/null || true
    done
    ip link delete "ledger$1" 2>/dev/null || true
    rm -rf -- "$directory"
}

# Removes the machines of killed runs.
remove_abandoned_machines() {
    local directory number
    for directory in "$machines_directory"-*; do
        number=${directory##*-}
        [[ -d $directory && $number =~ ^[0-9]+$ && ! -d /proc/$number ]] || continue
        say "Removing the machines of a killed run in $directory"
        remove_machines "$number"
    done
}

# Kills the processes whose working directory is below a directory; fails without any.
kill_processes_below() {
    local link process found=1
    for link in /proc/[0-9]*/cwd; do
        if [[ $(readlink "$link" 2>/dev/null) == "$1"/* ]]; then
            process=${link#/proc/}
            kill -KILL "${process%/cwd}" 2>/dev/null || true
            found=0
        fi
    done
    return "$found"
}
