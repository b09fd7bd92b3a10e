-- Decision state: the addresses that accounts have, each under a keyed digest of its kind and canonical form. The
-- address itself is a disclosure of the AddressConfirmed.
CREATE TABLE addresses (
    tenant_id text COLLATE "C" NOT NULL,
    address_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('email', 'phone')),
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    -- The name of the encryption key from which the key of the digest is derived.
    key_id text COLLATE "C" NOT NULL,
    -- The account for which it was confirmed; merges do not change it.
    account_id uuid NOT NULL,
    position bigint NOT NULL,
    mac bytea,
    PRIMARY KEY (tenant_id, address_id)
);
CREATE UNIQUE INDEX addresses_by_digest ON addresses (tenant_id, digest);
CREATE INDEX addresses_by_account ON addresses (tenant_id, account_id);
CREATE TRIGGER addresses_no_truncate BEFORE TRUNCATE ON addresses
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE addresses ENABLE ALWAYS TRIGGER addresses_no_truncate;

-- The challenges that were sent and not used yet. The digest of the code covers every other column but the
-- tries, so that no row can be made from another one.
CREATE TABLE challenges (
    tenant_id text COLLATE "C" NOT NULL,
    challenge_id uuid NOT NULL,
    provider text COLLATE "C" NOT NULL,
    -- The session that may use it; null for any client.
    session_id uuid,
    -- The digest of the merge plan for which it was made.
    plan bytea,
    -- The digest of the address, as in `addresses`.
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    code_digest bytea NOT NULL CHECK (octet_length(code_digest) = 32),
    key_id text COLLATE "C" NOT NULL,
    -- The address, encrypted under `wrapping_key`.
    sealed bytea NOT NULL,
    wrapping_key text COLLATE "C" NOT NULL,
    expires_at timestamptz NOT NULL,
    tries integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, challenge_id)
);
CREATE INDEX challenges_by_expiry ON challenges (expires_at);
CREATE INDEX challenges_by_digest ON challenges (tenant_id, digest);

-- The codes that were sent to an address or tried for it within an hour, by a keyed digest of what is counted.
CREATE TABLE code_counts (
    tenant_id text COLLATE "C" NOT NULL,
    scope bytea NOT NULL CHECK (octet_length(scope) = 32),
    count integer NOT NULL,
    ends_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, scope)
);
CREATE INDEX code_counts_by_end ON code_counts (ends_at);
