-- The Merkle log: what a sealer adds beside `events`, so that outsiders can check them.
-- Every row of merkle_nodes, checkpoints and checkpoint_keys is written once.

-- Hashes of one RFC 6962 tree a tenant in the order of Go's StoredHashIndex (a node follows the last
-- of its leaves). A row holds those with the indexes from first_index on: a sealer writes many at a
-- time, and a row for each would cost more than the hashing.
CREATE TABLE merkle_nodes (
    tenant_id text COLLATE "C" NOT NULL,
    first_index bigint NOT NULL CHECK (first_index >= 0),
    -- At most 56 hashes, which stay in the row: longer values move to a table of their own.
    hashes bytea NOT NULL CHECK (octet_length(hashes) BETWEEN 32 AND 1792 AND octet_length(hashes) % 32 = 0),
    PRIMARY KEY (tenant_id, first_index)
) WITH (autovacuum_freeze_max_age = 1000000000, autovacuum_vacuum_insert_scale_factor = 0.05);

-- Every checkpoint ever signed: the C2SP signed note, and what it says.
CREATE TABLE checkpoints (
    tenant_id text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    size bigint NOT NULL CHECK (size > 0),
    root bytea NOT NULL CHECK (octet_length(root) = 32),
    note text COLLATE "C" NOT NULL CHECK (octet_length(note) <= 4096),
    signed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, size, origin)
);

-- The public keys that checkpoints are signed with, as C2SP verifier keys. An auditor compares them
-- with what was told to them by another way.
CREATE TABLE checkpoint_keys (
    tenant_id text COLLATE "C" NOT NULL,
    vkey text COLLATE "C" NOT NULL,
    added_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, vkey)
);

-- Who seals a tenant's log now, and until when it need not ask again.
CREATE TABLE sealer_leases (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    holder uuid NOT NULL,
    expires_at timestamptz NOT NULL
) WITH (fillfactor = 50);
