-- Append-only by force for what now stands beside the log, and no way to empty at once what the log is
-- decided by or what it discloses.

CREATE TRIGGER merkle_nodes_no_change BEFORE UPDATE OR DELETE ON merkle_nodes
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER checkpoints_no_change BEFORE UPDATE OR DELETE ON checkpoints
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER checkpoint_keys_no_change BEFORE UPDATE OR DELETE ON checkpoint_keys
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
CREATE TRIGGER access_log_no_change BEFORE UPDATE OR DELETE ON access_log
    FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE merkle_nodes ENABLE ALWAYS TRIGGER merkle_nodes_no_change;
ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER checkpoints_no_change;
ALTER TABLE checkpoint_keys ENABLE ALWAYS TRIGGER checkpoint_keys_no_change;
ALTER TABLE access_log ENABLE ALWAYS TRIGGER access_log_no_change;

DO $truncation$
DECLARE
    place text;
BEGIN
    FOREACH place IN ARRAY ARRAY['merkle_nodes', 'checkpoints', 'checkpoint_keys', 'access_log',
        'disclosures', 'account_keys', 'ledger_head', 'accounts', 'identities', 'sessions',
        'api_keys', 'access_heads']
    LOOP
        EXECUTE format('CREATE TRIGGER %1$s_no_truncate BEFORE TRUNCATE ON %1$s
            FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change()', place);
        EXECUTE format('ALTER TABLE %1$s ENABLE ALWAYS TRIGGER %1$s_no_truncate', place);
    END LOOP;
END
$truncation$;

-- Which keys the ledger works with, for every start of a server: a handful of rows among all events.
CREATE INDEX events_of_keys ON events (tenant_id, position) WHERE type = 'KeyRotated';
