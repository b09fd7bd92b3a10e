# shellcheck shell=bash
# Tries a restore to a moment: docs/operating/backup.md shows its commands and its output.

try_restore() {
    local archive backup moment lost before after erased later former
    make_restorable_ledger
    archive=$cluster/archive backup=$cluster/backup
    start_server "$scratch/server.log"

    say "Before the backup: 20 people sign in"
    sign_in_people 1 20
    say "A base backup, and the keys apart from it"
    run_as_postgres pg_basebackup --dbname="$(cluster_url "$cluster" "$cluster_owner" postgres)" \
        --pgdata="$backup" --checkpoint=fast --wal-method=none --manifest-checksums=SHA256
    run_as_postgres pg_verifybackup --no-parse-wal "$backup" >&2
    cp -a "$LEDGER_KEYS" "$scratch/keys.copy"
    say "After the backup: 20 more, one of whom is erased afterwards"
    sign_in_people 21 40
    erased=$(sign_in person-5 | jq -r .user_id)
    "$server_program" erase "$erased" --reason "asked by letter" >/dev/null
    moment=$(psql_as_owner "$cluster" postgres --tuples-only --no-align <<<'SELECT clock_timestamp()')
    say "The moment to return to is $moment; 5 more sign in after it, and one is erased"
    sign_in_people 41 45
    later=$(sign_in person-6 | jq -r .user_id)
    "$server_program" erase "$later" --reason "asked by letter" >/dev/null
    eventually 10 everything_is_signed
    before=$(head_position)
    stop_child "$server_process" 20
    psql_as_owner "$cluster" postgres --output=/dev/null <<<'SELECT pg_switch_wal()'
    eventually 20 is_archived
    [[ -z $(find "$archive" -name '*.part') ]] || fail "half a file is in the archive"

    say "The machine is lost: the cluster is stopped, its directory and that of the keys are emptied"
    run_as_postgres pg_ctl stop --mode=immediate --silent --pgdata="$cluster/data"
    run_as_postgres rm -rf "$cluster/data"
    rm -rf "$LEDGER_KEYS"
    say "Recovery to the moment, and the copy of the keys"
    cp -a "$scratch/keys.copy" "$LEDGER_KEYS"
    run_as_postgres cp -a "$backup" "$cluster/data"
    as_cluster_login tee -a "$cluster/data/postgresql.auto.conf" >/dev/null <<SETTINGS
restore_command = 'cp $archive/%f %p'
recovery_target_time = '$moment'
recovery_target_action = 'promote'
SETTINGS
    as_cluster_login touch "$cluster/data/recovery.signal"
    run_as_postgres pg_ctl start --wait --silent --pgdata="$cluster/data" --log="$cluster/postgres.log"
    eventually 30 is_promoted
    after=$(head_position)
    ((after < before)) || fail "nothing was lost: $after of $before events"
    lost=$((before - after))

    say "restore-check reports $lost lost events"
    report "$server_program" restore-check && fail "restore-check reports nothing"
    grep -q "but the last $lost are missing" "$scratch/report" || fail "restore-check does not report $lost events"
    grep -q "UNDONE: account $later" "$scratch/report" || fail "restore-check does not report the erasure that was undone"
    say "restore-check --accept --restored"
    report "$server_program" restore-check --accept --restored --revoke-keys || fail "the loss is not accepted"
    report "$server_program" restore-check || fail "something still differs"
    start_server "$scratch/restored.log"
    report "$server_program" protect || fail "protect failed"
    former=$("$server_program" keys list | awk -F '\t' '$1 == "mac" && $3 == "former" { print $2 }')
    report "$server_program" keys remove mac "$former" || fail "the MAC key of the lost events is not removed"
    eventually 10 everything_is_signed
    report "$server_program" verify || fail "verify failed"

    say "Accounts of the moment are back, and later ones are not"
    expect "an account from before the backup" false "$(sign_in person-1 | jq -r .is_new_user)"
    expect "an account from between backup and moment" false "$(sign_in person-40 | jq -r .is_new_user)"
    expect "an account that is lost" true "$(sign_in person-41 | jq -r .is_new_user)"
    expect "an account that was erased before the moment" true "$(sign_in person-5 | jq -r .is_new_user)"
    expect "an account that was erased after the moment" true "$(sign_in person-6 | jq -r .is_new_user)"
}

# A cluster that archives its WAL, as the backup page says.
make_restorable_ledger() {
    # shellcheck disable=SC2034 # cluster.sh reads it
    cluster_settings="wal_level = replica
archive_mode = on
archive_command = '\"\$(dirname \"\$PWD\")/archive-wal\" %p \"\$(dirname \"\$PWD\")/archive/%f\"'"
    make_ledger restore
    # Until they are there, Postgres repeats its call.
    install -m 755 "$repository/packaging/postgres/archive-wal" "$cluster/archive-wal"
    as_cluster_login mkdir -p "$cluster/archive"
}

# Runs one of Postgres's programs as the login of the cluster.
run_as_postgres() {
    as_cluster_login env PATH="$(postgres_programs):$PATH" "$@"
}

sign_in_people() {
    local person
    for ((person = $1; person <= $2; person++)); do
        sign_in "person-$person" >/dev/null
    done
}

head_position() {
    psql_as_owner "$cluster" "$application_database" --tuples-only --no-align \
        <<<"SELECT next_position FROM ledger_head WHERE tenant_id = 'default'"
}

everything_is_signed() {
    [[ $(sed -n 2p "$LEDGER_SEALER_STATE/default/last-signed" 2>/dev/null) == "$(head_position)" ]]
}

is_archived() {
    [[ $(psql_as_owner "$cluster" postgres --tuples-only --no-align <<<"
        SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1) FROM pg_stat_archiver") == t ]]
}

is_promoted() {
    [[ $(psql_as_owner "$cluster" postgres --tuples-only --no-align 2>/dev/null \
        <<<'SELECT pg_is_in_recovery()') == f ]]
}

# Runs a command, prints its output, and keeps it.
report() {
    printf '$ account-ledger %s\n' "${*:2}" >&2
    local status=0
    "$@" >"$scratch/report" 2>&1 || status=$?
    cat "$scratch/report" >&2
    return "$status"
}
