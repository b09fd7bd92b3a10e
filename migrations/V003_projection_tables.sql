-- Read models in versions: a projection is folded into one or more tables, each with checkpoints of its
-- own, and the view that bears the projection's name shows the one that is served.

-- One row a table, named <name>_<generation>. version is the fold that fills it; state is one of
--   building  being loaded by `rebuild --online`; nobody else folds into it
--   ready     loaded; folded into by every projector, shown to nobody
--   served    what the view shows
--   previous  what the view showed before; kept up to date for a roll-back
CREATE TABLE projection_tables (
    name text COLLATE "C" NOT NULL,
    generation integer NOT NULL CHECK (generation > 0),
    version integer NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('building', 'ready', 'served', 'previous')),
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (name, generation)
);
-- At most one of each state, so that a swap is an exchange and never a choice.
CREATE UNIQUE INDEX projection_tables_by_state ON projection_tables (name, state);

INSERT INTO projection_tables (name, generation, version, state)
VALUES ('user_providers', 1, 1, 'served'), ('account_audit', 1, 1, 'served');

ALTER TABLE projections ADD COLUMN generation integer NOT NULL DEFAULT 1;
ALTER TABLE projections ALTER COLUMN generation DROP DEFAULT;
ALTER TABLE projections DROP CONSTRAINT projections_pkey;
ALTER TABLE projections ADD PRIMARY KEY (tenant_id, name, generation);

ALTER TABLE user_providers RENAME TO user_providers_1;
ALTER INDEX user_providers_pkey RENAME TO user_providers_1_pkey;
CREATE VIEW user_providers AS
SELECT tenant_id, user_id, provider, provider_id, email, identity_id, linked_at, linked_position
FROM user_providers_1;

ALTER TABLE account_audit RENAME TO account_audit_1;
ALTER INDEX account_audit_pkey RENAME TO account_audit_1_pkey;
CREATE VIEW account_audit AS
SELECT tenant_id, account_id, account_seq, position, event_id, recorded_at, type, outcome, reason,
    actor, provider, identity_id, session_id, request_id, client_ip, providers_before, providers_after
FROM account_audit_1;
