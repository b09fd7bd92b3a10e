-- The functions that destroy data, with the owner's rights, and those that they call. Applied with the last
-- migration and at each `migrate`; their bodies are compared at every look at the guards. What frozen
-- migrations say about them is history.

-- Returns the entry of an AccountErased if it is the one of this account at this place in the log.
--
-- A server may insert events with any columns. The place must be before the head, which the same transaction
-- has moved by then, and the columns are not trusted: the entry is what is hashed and signed, and it must
-- name the account.
CREATE OR REPLACE FUNCTION public.ledger_erasing_entry(tenant text, account uuid, place bigint)
RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $ledger_erasing_entry$
DECLARE
    stored record;
    said jsonb;
BEGIN
    SELECT e.account_seq, e.recorded_at, e.entry INTO stored
    FROM public.events e
    WHERE e.tenant_id = tenant AND e.position = place AND e.position < (
            SELECT h.next_position FROM public.ledger_head h WHERE h.tenant_id = tenant)
        AND e.type = 'AccountErased' AND e.account_id = account;
    IF FOUND THEN
        BEGIN
            said := convert_from(stored.entry, 'UTF8')::jsonb;
        EXCEPTION WHEN data_exception THEN
            said := NULL;
        END;
    END IF;
    IF (said ->> 'type' = 'AccountErased' AND said ->> 'v' IN ('1', '2', '3')
            AND said ->> 'tenant' = tenant
            AND said ->> 'position' = place::text AND jsonb_array_length(said -> 'accounts') = 1
            AND said #>> '{accounts,0,id}' = account::text
            AND said #>> '{accounts,0,seq}' = stored.account_seq::text
            AND (said ->> 'recorded_at')::timestamptz = stored.recorded_at) IS NOT TRUE THEN
        RAISE EXCEPTION 'ledger: no AccountErased of account % at position % of tenant %',
            account, place, tenant
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN said;
END
$ledger_erasing_entry$;

-- Whether the log leaves an account with a legal hold before a place, whatever the account's row says.
CREATE OR REPLACE FUNCTION public.ledger_is_held(tenant text, account uuid, place bigint)
RETURNS boolean
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $ledger_is_held$
BEGIN
    PERFORM FROM (
        SELECT convert_from(e.entry, 'UTF8')::jsonb AS said FROM public.events e
        WHERE e.tenant_id = tenant AND e.account_id = account AND e.position < place
            AND e.type IN ('LegalHoldSet', 'LegalHoldLifted')) k
    WHERE k.said #>> '{accounts,0,id}' = account::text
    GROUP BY k.said #>> '{details,hold}'
    HAVING count(*) FILTER (WHERE k.said ->> 'type' = 'LegalHoldSet')
        > count(*) FILTER (WHERE k.said ->> 'type' = 'LegalHoldLifted');
    RETURN FOUND;
END
$ledger_is_held$;

-- Deletes the rows of accounts in the transaction that appends their events; returns the number of accounts.
CREATE OR REPLACE FUNCTION public.ledger_erase_accounts(
    tenant text, accounts uuid[], positions bigint[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $ledger_erase_accounts$
DECLARE
    wanted record;
    erasing jsonb;
    gone record;
    held uuid[];
    digests bytea[];
    recipients bytea[];
    total bigint := 0;
BEGIN
    FOR wanted IN
        SELECT * FROM unnest(accounts, positions) AS k (account, place)
    LOOP
        erasing := public.ledger_erasing_entry(tenant, wanted.account, wanted.place);
        DELETE FROM public.accounts a
        WHERE a.tenant_id = tenant AND a.account_id = wanted.account
        RETURNING a.opened_position, a.legal_holds INTO gone;
        IF NOT FOUND OR gone.legal_holds IS NOT NULL
            OR public.ledger_is_held(tenant, wanted.account, wanted.place)
        THEN
            RAISE EXCEPTION 'ledger: account % of tenant % is not there, or held',
                wanted.account, tenant
                USING ERRCODE = 'data_exception';
        END IF;
        INSERT INTO public.erasures (tenant_id, account_id, opened_position, next_seq, last_leaf,
            position, erased_at)
        SELECT tenant, wanted.account, gone.opened_position,
            (erasing #>> '{accounts,0,seq}')::bigint + 1, sha256('\x00'::bytea || e.entry),
            wanted.place, (erasing ->> 'recorded_at')::timestamptz
        FROM public.events e
        WHERE e.tenant_id = tenant AND e.position = wanted.place;
        -- Keys instead of joins: inside a function, Citus takes one table of tenants in a statement.
        held := ARRAY(SELECT i.identity_id FROM public.identities i
            WHERE i.tenant_id = tenant AND i.last_account_id = wanted.account);
        digests := ARRAY(SELECT d.digest FROM public.addresses d
            WHERE d.tenant_id = tenant AND d.account_id = wanted.account);
        -- Every session that lives was opened by an identity that is still linked.
        UPDATE public.sessions s
        SET ended_position = wanted.place, mac = NULL, refresh_current = decode(repeat('00', 32), 'hex'),
            refresh_preceding = NULL, refresh_sealed_successor = NULL, refresh_exchanged_at = NULL
        WHERE s.tenant_id = tenant AND s.identity_id = ANY (held)
            AND s.account_id = wanted.account AND s.ended_position IS NULL;
        DELETE FROM public.identities i
        WHERE i.tenant_id = tenant AND i.last_account_id = wanted.account;
        -- After the identities, whose lock keeps another name from being given.
        DELETE FROM public.identity_names n
        WHERE n.tenant_id = tenant AND n.identity_id = ANY (held);
        DELETE FROM public.identity_names n
        WHERE n.tenant_id = tenant AND n.account_id = wanted.account;
        DELETE FROM public.merges m
        WHERE m.tenant_id = tenant AND m.absorbed_id = wanted.account;
        DELETE FROM public.merges m
        WHERE m.tenant_id = tenant AND m.survivor_id = wanted.account;
        DELETE FROM public.challenges c
        WHERE c.tenant_id = tenant AND c.digest = ANY (digests);
        DELETE FROM public.credentials c
        WHERE c.tenant_id = tenant AND c.account_id = wanted.account;
        DELETE FROM public.factors f
        WHERE f.tenant_id = tenant AND f.account_id = wanted.account;
        DELETE FROM public.addresses d
        WHERE d.tenant_id = tenant AND d.account_id = wanted.account;
        DELETE FROM public.names n
        WHERE n.tenant_id = tenant AND n.account_id = wanted.account;
        DELETE FROM public.account_keys w
        WHERE w.tenant_id = tenant AND w.account_id = wanted.account;
        DELETE FROM public.idempotency_records r
        WHERE r.tenant_id = tenant AND r.account_id = wanted.account;
        DELETE FROM public.erasure_requests q
        WHERE q.tenant_id = tenant AND q.account_id = wanted.account;
        -- Notes on conflicts name both parties.
        DELETE FROM public.conflict_reviews v
        WHERE v.tenant_id = tenant AND v.caller_id = wanted.account;
        DELETE FROM public.conflict_reviews v
        WHERE v.tenant_id = tenant AND v.holder_id = wanted.account;
        -- Also those that name no account but went to the same recipient as one that does.
        recipients := ARRAY(SELECT n.recipient_digest FROM public.messages n
            WHERE n.tenant_id = tenant AND n.account_id = wanted.account
                AND n.recipient_digest IS NOT NULL);
        DELETE FROM public.messages o
        WHERE o.tenant_id = tenant AND o.account_id IS NULL
            AND o.recipient_digest = ANY (recipients);
        DELETE FROM public.messages o
        WHERE o.tenant_id = tenant AND o.account_id = wanted.account;
        total := total + 1;
    END LOOP;
    RETURN total;
END
$ledger_erase_accounts$;

-- Deletes the disclosures about an erased account at some positions; returns the number of rows.
CREATE OR REPLACE FUNCTION public.ledger_destroy_disclosures(
    tenant text, account uuid, positions bigint[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $ledger_destroy_disclosures$
DECLARE
    place bigint := (SELECT x.position FROM public.erasures x
        WHERE x.tenant_id = tenant AND x.account_id = account);
    total bigint;
BEGIN
    PERFORM public.ledger_erasing_entry(tenant, account, place);
    DELETE FROM public.disclosures d
    WHERE d.tenant_id = tenant AND d.account_id = account AND d.position = ANY (positions);
    GET DIAGNOSTICS total = ROW_COUNT;
    RETURN total;
END
$ledger_destroy_disclosures$;

REVOKE ALL ON FUNCTION public.ledger_erasing_entry(text, uuid, bigint),
    public.ledger_is_held(text, uuid, bigint),
    public.ledger_erase_accounts(text, uuid[], bigint[]),
    public.ledger_destroy_disclosures(text, uuid, bigint[]) FROM PUBLIC;
