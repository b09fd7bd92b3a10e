-- The position since which an account belongs to the person who proved the address that it had only claimed.
ALTER TABLE accounts ADD COLUMN handed_over_position bigint;
-- The account itself is the actor of an unlink that hands it over; an account that only loses the address is unlinked by
-- another one.
UPDATE accounts a SET handed_over_position = e.position
FROM (
    SELECT tenant_id, account_id, max(position) AS position FROM events
    WHERE type = 'ProviderUnlinked' AND schema_version = 2 AND actor = 'account:' || account_id
        AND convert_from(entry, 'UTF8')::jsonb #>> '{details,cause}' = 'address_lost'
    GROUP BY tenant_id, account_id) e
WHERE a.tenant_id = e.tenant_id AND a.account_id = e.account_id;
