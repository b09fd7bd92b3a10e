-- Destruction that asks the log itself, and reaches what the planner remembers.

-- An erasure looks into the log for the holds of its account: few rows among all events.
CREATE INDEX events_of_holds ON events (tenant_id, account_id)
    WHERE type IN ('LegalHoldSet', 'LegalHoldLifted');

-- The bodies of the functions below are compared at every look at the guards: a later migration that
-- replaces one of them quotes it with the same tag.

-- What the entry of an AccountErased says, when it is the one of this account at this place in the log.
--
-- Whoever serves may add rows to events, with any columns. So the place has to be before the head, which
-- the same transaction has moved before it comes here, and the columns are not believed: the entry is
-- what is hashed and signed, and it has to say whom it erases.
CREATE OR REPLACE FUNCTION public.ledger_erasing_entry(tenant text, account uuid, place bigint)
RETURNS jsonb
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $ledger_erasing_entry$
DECLARE
    stored record;
    said jsonb;
BEGIN
    SELECT e.account_seq, e.recorded_at, e.entry INTO stored
    FROM public.events e JOIN public.ledger_head h ON h.tenant_id = e.tenant_id
    WHERE e.tenant_id = tenant AND e.position = place AND e.position < h.next_position
        AND e.type = 'AccountErased' AND e.account_id = account;
    IF FOUND THEN
        BEGIN
            said := convert_from(stored.entry, 'UTF8')::jsonb;
        EXCEPTION WHEN data_exception THEN
            said := NULL;
        END;
    END IF;
    IF (said ->> 'type' = 'AccountErased' AND said ->> 'v' = '1' AND said ->> 'tenant' = tenant
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
        SET ended_position = wanted.place, refresh_current = decode(repeat('00', 32), 'hex'),
            refresh_preceding = NULL, refresh_sealed_successor = NULL, refresh_exchanged_at = NULL
        FROM public.identities i
        WHERE i.tenant_id = wanted.tenant AND i.last_account_id = wanted.account
            AND s.tenant_id = wanted.tenant AND s.identity_id = i.identity_id
            AND s.account_id = wanted.account AND s.ended_position IS NULL;
        DELETE FROM public.identities i
        WHERE i.tenant_id = wanted.tenant AND i.last_account_id = wanted.account;
        DELETE FROM public.account_keys w
        WHERE w.tenant_id = wanted.tenant AND w.account_id = wanted.account;
        DELETE FROM public.idempotency_records r
        WHERE r.tenant_id = wanted.tenant AND r.account_id = wanted.account;
        total := total + 1;
    END LOOP;
    RETURN total;
END
$ledger_erase_accounts$;

-- Takes the disclosures about an erased account away at some positions; returns how many rows.
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

REVOKE ALL ON FUNCTION ledger_erasing_entry(text, uuid, bigint),
    ledger_is_held(text, uuid, bigint) FROM PUBLIC;

-- What the planner remembers --------------------------------------------------------------------------
--
-- ANALYZE keeps samples of values, and would keep those of erased people until it runs again. No plan
-- needs them: these columns are looked up through unique keys, or not at all. Only a change of type
-- takes away what is remembered, and one to the same type touches neither rows nor indexes. A view would
-- be in its way, and looks elsewhere meanwhile: so it keeps its privileges.
DO $statistics$
DECLARE
    made record;
    views jsonb := '{}';
BEGIN
    ALTER TABLE identities ALTER provider_id TYPE text COLLATE "C",
        ALTER provider_id SET STATISTICS 0;
    ALTER TABLE account_keys ALTER wrapped_key TYPE bytea, ALTER wrapped_key SET STATISTICS 0;
    ALTER TABLE disclosures ALTER ciphertext TYPE bytea, ALTER ciphertext SET STATISTICS 0;

    FOR made IN SELECT name, pg_get_viewdef(name::regclass) AS definition
        FROM unnest(ARRAY['user_providers', 'account_audit']) AS v (name)
    LOOP
        views := views || jsonb_build_object(made.name, made.definition);
        EXECUTE (SELECT format('CREATE OR REPLACE VIEW %I AS SELECT %s', made.name,
            string_agg(format('NULL::%s%s AS %I', format_type(a.atttypid, a.atttypmod),
                CASE WHEN n.collname = 'C' THEN ' COLLATE "C"' ELSE '' END, a.attname), ', '
                ORDER BY a.attnum))
            FROM pg_attribute a LEFT JOIN pg_collation n ON n.oid = a.attcollation
            WHERE a.attrelid = made.name::regclass AND a.attnum > 0);
    END LOOP;
    FOR made IN SELECT name, generation FROM projection_tables LOOP
        IF made.name = 'user_providers' THEN
            EXECUTE format('ALTER TABLE %I ALTER provider_id TYPE text COLLATE "C",
                ALTER provider_id SET STATISTICS 0, ALTER email TYPE text,
                ALTER email SET STATISTICS 0', made.name || '_' || made.generation);
        ELSIF made.name = 'account_audit' THEN
            EXECUTE format('ALTER TABLE %I ALTER client_ip TYPE text,
                ALTER client_ip SET STATISTICS 0', made.name || '_' || made.generation);
        END IF;
    END LOOP;
    FOR made IN SELECT key AS name, value AS definition FROM jsonb_each_text(views) LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %I AS %s', made.name, made.definition);
    END LOOP;
END
$statistics$;
