-- Whether the provider said that it had verified the e-mail of an identity, beside the e-mail.

-- Null where the log does not say. No event of before discloses it, so every table is what folding it anew
-- would make it.
DO $verified$
DECLARE
    place text;
BEGIN
    FOR place IN
        SELECT name || '_' || generation FROM projection_tables WHERE name = 'user_providers'
    LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN email_verified boolean', place);
        EXECUTE format('ALTER TABLE %I ALTER email_verified SET STATISTICS 0', place);
    END LOOP;
    EXECUTE (
        SELECT format('CREATE OR REPLACE VIEW user_providers AS
            SELECT tenant_id, user_id, provider, provider_id, email, identity_id, linked_at,
                linked_position, email_verified
            FROM %I', name || '_' || generation)
        FROM projection_tables WHERE name = 'user_providers' AND state = 'served');
END
$verified$;
