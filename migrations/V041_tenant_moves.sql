-- Tenants that are copied to another database or from one. No command or read of them is answered here, and no worker
-- works on them. Only the owner of the tables writes it.
CREATE TABLE tenant_moves (
    tenant_id text COLLATE "C" NOT NULL PRIMARY KEY,
    -- arriving: is copied here from the peer; leaving: the last rows are copied to the peer; moved: the peer has them
    -- all; discarded: moved, and only the log without personal data is left
    state text NOT NULL CHECK (state IN ('arriving', 'leaving', 'moved', 'discarded')),
    -- The other database, as it names itself.
    peer text NOT NULL,
    -- The run of the command that wrote the row: an earlier run cannot continue.
    run uuid NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT now()
);
