# shellcheck shell=bash
# Forms a throw-away coordinator with two workers from the installed Citus (cluster.sh).

# The tests that pass there, as patterns for `swift test`, and tests of them that do not;
# docs/operating/citus.md says why.
# shellcheck disable=SC2034 # for tools/test
readonly citus_tests=('LedgerPostgresTests\.(TenantCalls|ShardedSchema|SQLScript|SequencerModel|SeveralTenants|OnePhase)Tests'
    'LedgerPostgresTests\.(OnlineRebuild|Rebuild|RebuildLease|ServedTable|ErasedReadModel|Upgrade)Tests'
    'EndToEndTests\.(Contract|Acceptance|Race|ImportAccounts|HistoryCommand|AccessCommand|SecondFactor|Address|Rules|MergeCommand)Tests'
    'EndToEndTests\.(WorkerFault|OnlineRebuild|Search|EventStream|WebhookSurvival|TenantMove|ShardMove)Tests')
# shellcheck disable=SC2034 # for tools/test
readonly tests_not_on_citus=('planner.s.statistics.hold.no.personal' 'removes.earlier.statistics'
    'event.that.cannot.be.folded.leaves' 'server.that.was.frozen.moves.nothing')

# The settings of a node.
readonly citus_settings="shared_preload_libraries = 'citus'
max_connections = 600
max_prepared_transactions = 600
max_worker_processes = 64
wal_level = logical
citus.node_conninfo = 'sslmode=disable'
citus.max_background_task_executors = 1"

# Fails unless the extension is installed beside the newest server.
require_citus() {
    local library
    library=$(dirname "$(postgres_programs)")/lib/citus.so
    [[ -e $library ]] ||
        fail "Citus is not installed ($library): install postgresql-15-citus-13.2 from the repository of" \
            "Citus, https://repos.citusdata.com/community, which Debian does not have"
}

# Starts the nodes; sets TEST_DATABASE_URL to the coordinator's URL and TEST_CITUS_WORKERS to those of the
# workers, separated by spaces. Each test joins databases of its own.
start_citus_nodes() {
    local node urls=''
    # shellcheck disable=SC2034 # for cluster.sh
    cluster_settings="fsync = off
$citus_settings"
    for node in worker-a worker-b test; do
        start_throw_away_cluster "$node"
        trust_connections_of_nodes "$cluster"
        urls+="$(cluster_url "$cluster" "$cluster_owner" postgres) "
    done
    urls=${urls% }
    TEST_DATABASE_URL=${urls##* }
    TEST_CITUS_WORKERS=${urls% *}
    export TEST_DATABASE_URL TEST_CITUS_WORKERS
}

# Logins of servers connect from node to node without a password; every process of this machine could.
trust_connections_of_nodes() {
    as_cluster_login tee "$1/data/pg_hba.conf" >/dev/null <<<'host all all 127.0.0.1/32 trust'
    psql_as_owner "$1" postgres --output=/dev/null <<<'SELECT pg_reload_conf()'
}
