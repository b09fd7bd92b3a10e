-- Codes by a key that is not in the database: whoever has the database alone can make no event, and no row
-- that a command decides by. docs/keys.md says which keys, docs/append-only.md what this guards against.

-- Null for what was written before, which is never changed; not for anything that is added, so that a server
-- of a former release adds nothing any more.
ALTER TABLE events ADD COLUMN mac bytea,
    ADD CONSTRAINT events_mac CHECK (mac IS NOT NULL AND octet_length(mac) = 20) NOT VALID;
ALTER TABLE events ALTER mac SET STATISTICS 0;

-- Which keys hold where, and under which number the log goes on: a handful of rows among all events.
DROP INDEX events_of_keys;
CREATE INDEX events_of_marks ON events (tenant_id, position)
    WHERE type IN ('KeyRotated', 'LedgerRestored');

ALTER TABLE ledger_head
    -- The id of the log's first event.
    ADD COLUMN log_id uuid,
    -- 1, or the number of the origin that the log goes on under since it was restored.
    ADD COLUMN log_number bigint NOT NULL DEFAULT 1,
    -- From which position on every event has a code; null while nothing in the log says so.
    ADD COLUMN protected_from bigint,
    ADD COLUMN mac bytea;
UPDATE ledger_head h
SET log_id = (SELECT event_id FROM events WHERE tenant_id = h.tenant_id AND position = 0),
    log_number = coalesce((
        SELECT (convert_from(e.entry, 'UTF8')::jsonb #>> '{details,origin}')::bigint
        FROM events e WHERE e.tenant_id = h.tenant_id AND e.type = 'LedgerRestored'
        ORDER BY e.position DESC LIMIT 1), 1);

-- Null until a server has written the row, or `protect` has verified it. Of a session that has ended and an
-- API key that is revoked it is always null, so that nobody brings one back.
ALTER TABLE identities ADD COLUMN mac bytea;
ALTER TABLE sessions ADD COLUMN mac bytea;
ALTER TABLE merges ADD COLUMN mac bytea;
ALTER TABLE api_keys ADD COLUMN mac bytea;
ALTER TABLE identities ALTER mac SET STATISTICS 0;
ALTER TABLE sessions ALTER mac SET STATISTICS 0;

-- Takes an account's rows away, in the transaction that appends the event; returns how many accounts.
CREATE OR REPLACE FUNCTION public.ledger_erase_accounts(
    tenants text[], accounts uuid[], positions bigint[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $ledger_erase_accounts$
DECLARE
    wanted record;
    erasing jsonb;
    gone record;
    total bigint := 0;
BEGIN
    FOR wanted IN
        SELECT * FROM unnest(tenants, accounts, positions) AS k (tenant, account, place)
    LOOP
        erasing := public.ledger_erasing_entry(wanted.tenant, wanted.account, wanted.place);
        DELETE FROM public.accounts a
        WHERE a.tenant_id = wanted.tenant AND a.account_id = wanted.account
        RETURNING a.opened_position, a.legal_holds INTO gone;
        IF NOT FOUND OR gone.legal_holds IS NOT NULL
            OR public.ledger_is_held(wanted.tenant, wanted.account, wanted.place)
        THEN
            RAISE EXCEPTION 'ledger: account % of tenant % is not there, or held',
                wanted.account, wanted.tenant
                USING ERRCODE = 'data_exception';
        END IF;
        INSERT INTO public.erasures (tenant_id, account_id, opened_position, next_seq, last_leaf,
            position, erased_at)
        SELECT wanted.tenant, wanted.account, gone.opened_position,
            (erasing #>> '{accounts,0,seq}')::bigint + 1, sha256('\x00'::bytea || e.entry),
            wanted.place, (erasing ->> 'recorded_at')::timestamptz
        FROM public.events e
        WHERE e.tenant_id = wanted.tenant AND e.position = wanted.place;
        -- Every session that lives was opened by an identity that is still linked.
        UPDATE public.sessions s
        SET ended_position = wanted.place, mac = NULL, refresh_current = decode(repeat('00', 32), 'hex'),
            refresh_preceding = NULL, refresh_sealed_successor = NULL, refresh_exchanged_at = NULL
        FROM public.identities i
        WHERE i.tenant_id = wanted.tenant AND i.last_account_id = wanted.account
            AND s.tenant_id = wanted.tenant AND s.identity_id = i.identity_id
            AND s.account_id = wanted.account AND s.ended_position IS NULL;
        DELETE FROM public.identities i
        WHERE i.tenant_id = wanted.tenant AND i.last_account_id = wanted.account;
        DELETE FROM public.merges m
        WHERE m.tenant_id = wanted.tenant AND m.absorbed_id = wanted.account;
        DELETE FROM public.merges m
        WHERE m.tenant_id = wanted.tenant AND m.survivor_id = wanted.account;
        DELETE FROM public.account_keys w
        WHERE w.tenant_id = wanted.tenant AND w.account_id = wanted.account;
        DELETE FROM public.idempotency_records r
        WHERE r.tenant_id = wanted.tenant AND r.account_id = wanted.account;
        total := total + 1;
    END LOOP;
    RETURN total;
END
$ledger_erase_accounts$;
