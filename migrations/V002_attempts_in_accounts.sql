-- What the budgets remember moves into the row of its account, which the same command writes anyway: a row
-- and two index entries less for each link. The bytes are those of AttemptList.swift.

ALTER TABLE accounts ADD COLUMN attempts bytea;
-- Room for a second version of each row in its page, now that rows grow when they are updated.
ALTER TABLE accounts SET (fillfactor = 50);

UPDATE accounts a SET attempts = r.attempts
FROM (
    SELECT tenant_id, account_id,
           '\x01'::bytea || string_agg(
               CASE action WHEN 'link' THEN '\x01'::bytea ELSE '\x02'::bytea END
               || int8send((extract(epoch FROM attempted_at) * 1000000)::bigint)
               || digest
               || set_byte('\x00'::bytea, 0, octet_length(provider)) || convert_to(provider, 'UTF8')
               || set_byte('\x00'::bytea, 0, octet_length(outcome)) || convert_to(outcome, 'UTF8'),
               ''::bytea ORDER BY attempted_at) AS attempts
    FROM recent_attempts
    GROUP BY tenant_id, account_id) r
WHERE a.tenant_id = r.tenant_id AND a.account_id = r.account_id;

DROP TABLE recent_attempts;
