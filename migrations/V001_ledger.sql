-- The log, decision state and what lies beside them. Every key begins with tenant_id.

-- Guards ---------------------------------------------------------------------------------------------

-- Ends the transaction when a statement wrote another number of rows than the sequencer decided.
CREATE FUNCTION ledger_expect(actual bigint, expected bigint, what text) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF actual IS DISTINCT FROM expected THEN
        RAISE EXCEPTION 'ledger: % wrote % rows instead of %', what, actual, expected
            USING ERRCODE = 'data_exception';
    END IF;
    RETURN actual;
END
$$;

CREATE FUNCTION ledger_refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'ledger: % is append-only, % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;

-- The log --------------------------------------------------------------------------------------------

-- One row a tenant; its lock is what gives positions their order.
CREATE TABLE ledger_head (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    next_position bigint NOT NULL DEFAULT 0 CHECK (next_position BETWEEN 0 AND 1::bigint << 62),
    last_recorded_at timestamptz NOT NULL DEFAULT 'epoch'
) WITH (fillfactor = 50);

-- entry is the truth and is what is hashed; every other column is derived from it for querying.
CREATE TABLE events (
    tenant_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL CHECK (position >= 0),
    event_id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    schema_version smallint NOT NULL,
    recorded_at timestamptz NOT NULL,
    account_id uuid,
    account_seq bigint,
    command_id uuid NOT NULL,
    request_id uuid,
    actor text COLLATE "C" NOT NULL,
    entry bytea NOT NULL CHECK (octet_length(entry) <= 65535),
    PRIMARY KEY (tenant_id, position)
) WITH (autovacuum_freeze_max_age = 1000000000, autovacuum_vacuum_insert_scale_factor = 0.05);

CREATE TRIGGER events_no_change BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER events_no_truncate BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE events ENABLE ALWAYS TRIGGER events_no_change;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_no_truncate;

-- Personal data of one account, as one event disclosed it, encrypted with that account's key.
CREATE TABLE disclosures (
    tenant_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    account_id uuid NOT NULL,
    ciphertext bytea NOT NULL,
    PRIMARY KEY (tenant_id, position, account_id)
);

-- Each account's own key, wrapped with the key of the key directory that wrapping_key names.
CREATE TABLE account_keys (
    tenant_id text COLLATE "C" NOT NULL,
    account_id uuid NOT NULL,
    wrapping_key text COLLATE "C" NOT NULL,
    wrapped_key bytea NOT NULL,
    PRIMARY KEY (tenant_id, account_id)
);

-- Decision state: written in the append transaction, never a projection -----------------------------

CREATE TABLE accounts (
    tenant_id text COLLATE "C" NOT NULL,
    account_id uuid NOT NULL,
    opened_position bigint NOT NULL,
    next_seq bigint NOT NULL CHECK (next_seq BETWEEN 1 AND 1::bigint << 62),
    last_leaf bytea NOT NULL CHECK (octet_length(last_leaf) = 32),
    last_position bigint NOT NULL,
    PRIMARY KEY (tenant_id, account_id)
) WITH (fillfactor = 80);

-- A row stays after an unlink, account_id null, so that a subject keeps its identity_id.
CREATE TABLE identities (
    tenant_id text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    provider_id text COLLATE "C" NOT NULL,
    identity_id uuid NOT NULL,
    account_id uuid,
    last_account_id uuid NOT NULL,
    linked_at timestamptz NOT NULL,
    linked_position bigint NOT NULL,
    PRIMARY KEY (tenant_id, provider, provider_id)
) WITH (fillfactor = 80);
-- Not led by tenant_id, so that no plan can take it for a lookup of a subject: while a table is young all
-- indexes that begin with the tenant look alike to the planner.
CREATE INDEX identities_by_account ON identities (account_id, tenant_id);

-- A refresh-token family. The refresh_* columns and expires_at have no events behind them.
CREATE TABLE sessions (
    tenant_id text COLLATE "C" NOT NULL,
    session_id uuid NOT NULL,
    account_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    authenticated_at timestamptz NOT NULL,
    opened_at timestamptz NOT NULL,
    opened_position bigint NOT NULL,
    ended_position bigint,
    refresh_current bytea NOT NULL CHECK (octet_length(refresh_current) = 32),
    refresh_preceding bytea CHECK (octet_length(refresh_preceding) = 32),
    refresh_sealed_successor bytea,
    refresh_exchanged_at timestamptz,
    refresh_generation integer NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, session_id)
) WITH (fillfactor = 70);
-- Serves the sign-in budget of an identity, and the unlink that ends what the identity opened.
CREATE INDEX sessions_by_identity ON sessions (identity_id, opened_at, tenant_id);

-- What the budgets remember; rows older than the window are swept.
CREATE TABLE recent_attempts (
    tenant_id text COLLATE "C" NOT NULL,
    account_id uuid NOT NULL,
    action text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    attempted_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, account_id, action, provider, digest, outcome)
);

-- Rows come in the order of their times, so these cost next to nothing and spare the sweeps a scan.
CREATE INDEX recent_attempts_by_age ON recent_attempts USING brin (attempted_at);

-- Answers that an idempotency key gives again; swept after a day.
CREATE TABLE idempotency_records (
    tenant_id text COLLATE "C" NOT NULL,
    account_id uuid NOT NULL,
    scope bytea NOT NULL CHECK (octet_length(scope) = 32),
    fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    answer text COLLATE "C" NOT NULL,
    answered_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, account_id, scope)
);
CREATE INDEX idempotency_records_by_age ON idempotency_records USING brin (answered_at);

-- Read models: folded from the log by the projector -------------------------------------------------

-- position is the next one that the projection will fold.
CREATE TABLE projections (
    tenant_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    version integer NOT NULL,
    position bigint NOT NULL DEFAULT 0,
    failure text,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name)
) WITH (fillfactor = 50);

CREATE TABLE user_providers (
    tenant_id text COLLATE "C" NOT NULL,
    user_id uuid NOT NULL,
    provider text COLLATE "C" NOT NULL,
    provider_id text COLLATE "C",
    email text,
    identity_id uuid NOT NULL,
    linked_at timestamptz NOT NULL,
    linked_position bigint NOT NULL,
    PRIMARY KEY (tenant_id, user_id, identity_id)
) WITH (fillfactor = 90);

-- One row an event and touched account.
CREATE TABLE account_audit (
    tenant_id text COLLATE "C" NOT NULL,
    account_id uuid NOT NULL,
    account_seq bigint NOT NULL,
    position bigint NOT NULL,
    event_id uuid NOT NULL,
    recorded_at timestamptz NOT NULL,
    type text COLLATE "C" NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    reason text COLLATE "C",
    actor text COLLATE "C" NOT NULL,
    provider text COLLATE "C",
    identity_id uuid,
    session_id uuid,
    request_id uuid,
    client_ip text,
    providers_before text[] NOT NULL,
    providers_after text[] NOT NULL,
    PRIMARY KEY (tenant_id, account_id, account_seq)
);
