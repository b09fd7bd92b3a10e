-- The read model of refused claims to identities: one row a claim, from its first attempt until something
-- ends it. Ids only: what an erasure leaves of an account is here, too.

CREATE TABLE conflicts_1 (
    tenant_id text COLLATE "C" NOT NULL,
    -- The first attempt, a ConflictRejected.
    first_position bigint NOT NULL,
    first_event uuid NOT NULL,
    first_at timestamptz NOT NULL,
    -- The last one; the same while there is one.
    last_position bigint NOT NULL,
    last_event uuid NOT NULL,
    last_at timestamptz NOT NULL,
    attempts bigint NOT NULL,
    reason text COLLATE "C" NOT NULL,
    provider text COLLATE "C" NOT NULL,
    -- Null for an identity that was never linked to any account.
    identity_id uuid,
    -- The account that was refused, and the one that stands for it, or did when the conflict ended for
    -- good: what a merge ended is followed on, because it may be taken back.
    caller_id uuid NOT NULL,
    caller_now uuid NOT NULL,
    -- The caller, the account that absorbed it, the one that absorbed that, and so on.
    callers text[] NOT NULL,
    -- The account that held the identity at the first attempt, and the one that does, or did just after
    -- what ended the conflict; null for none.
    holder_id uuid,
    holder_now uuid,
    -- What ended it; null while it lasts.
    resolved_position bigint,
    resolved_event uuid,
    resolved_at timestamptz,
    resolved_type text COLLATE "C",
    resolved_actor text COLLATE "C",
    PRIMARY KEY (tenant_id, first_position)
);
-- For readers.
CREATE INDEX conflicts_1_last ON conflicts_1 (tenant_id, last_position);
-- For the fold, and of the rows only that an event can change. Not led by tenant_id, so that no plan can
-- take one for another.
CREATE INDEX conflicts_1_caller ON conflicts_1 (caller_id, tenant_id)
    WHERE (resolved_position IS NULL OR resolved_type = 'AccountsMerged');
CREATE INDEX conflicts_1_caller_now ON conflicts_1 (caller_now, tenant_id)
    WHERE (resolved_position IS NULL OR resolved_type = 'AccountsMerged');
CREATE INDEX conflicts_1_identity ON conflicts_1 (identity_id, tenant_id)
    WHERE resolved_position IS NULL;
CREATE INDEX conflicts_1_holder ON conflicts_1 (holder_now, tenant_id)
    WHERE resolved_position IS NULL;
CREATE INDEX conflicts_1_resolved ON conflicts_1 (resolved_event, tenant_id)
    WHERE resolved_type = 'AccountsMerged';

CREATE VIEW conflicts AS
SELECT tenant_id, first_position, first_event, first_at, last_position, last_event, last_at, attempts,
    reason, provider, identity_id, caller_id, caller_now, callers, holder_id, holder_now,
    resolved_position, resolved_event, resolved_at, resolved_type, resolved_actor
FROM conflicts_1;

INSERT INTO projection_tables (name, generation, version, state) VALUES ('conflicts', 1, 1, 'served');
