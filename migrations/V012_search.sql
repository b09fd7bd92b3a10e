-- What support searches by.

-- A keyed digest of the e-mail of an identity that belongs to no account any more, for searches: null while it
-- belongs to one and until somebody has looked for the e-mail, empty where none is known. Like the refresh_*
-- columns of sessions it has no event behind it; every move of the identity takes it away.
ALTER TABLE identities ADD COLUMN former_email bytea,
    ADD CONSTRAINT identities_former_email CHECK (former_email IS NULL
        OR (account_id IS NULL AND octet_length(former_email) IN (0, 32)));
ALTER TABLE identities ALTER former_email SET STATISTICS 0;
-- Not led by tenant_id, so that no plan can take it for a lookup of a subject.
CREATE INDEX identities_by_former_email ON identities (former_email, tenant_id)
    WHERE former_email IS NOT NULL;
-- What is to be looked for; next to nothing at any time, and never a row of a linked identity.
CREATE INDEX identities_without_former_email ON identities (identity_id, tenant_id)
    WHERE account_id IS NULL AND former_email IS NULL;

-- E-mails as searches compare them: without blanks around, ASCII letters in lower case. The same is made
-- for each table that a rebuild makes.
DO $emails$
DECLARE
    place text;
BEGIN
    FOR place IN
        SELECT name || '_' || generation FROM projection_tables
        WHERE name = 'user_providers' AND state <> 'building'
    LOOP
        EXECUTE format(
            'CREATE INDEX %I ON %I (lower(btrim(email, E'' \t\n\r'') COLLATE "C"), tenant_id)
                WHERE email IS NOT NULL', place || '_email', place);
        EXECUTE format('ALTER INDEX %I ALTER COLUMN 1 SET STATISTICS 0', place || '_email');
    END LOOP;
END
$emails$;
