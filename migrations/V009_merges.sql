-- Merges of accounts.

-- The account that stands for an account that was merged into it; null for one that stands by itself.
ALTER TABLE accounts ADD COLUMN merged_into uuid;
-- Not led by tenant_id, so that no plan can take it for a lookup of an account.
CREATE INDEX accounts_merged ON accounts (merged_into, tenant_id) WHERE merged_into IS NOT NULL;

-- Decision state: the merges that were not taken back, and what each did with the identities.
CREATE TABLE merges (
    tenant_id text COLLATE "C" NOT NULL,
    -- Of the AccountsMerged.
    event_id uuid NOT NULL,
    position bigint NOT NULL,
    survivor_id uuid NOT NULL,
    absorbed_id uuid NOT NULL,
    -- Identities of the absorbed account that went to the survivor.
    moved uuid[] NOT NULL,
    -- Identities of the absorbed account that went to nobody.
    dropped uuid[] NOT NULL,
    -- Identities of the survivor that went to nobody.
    replaced uuid[] NOT NULL,
    PRIMARY KEY (tenant_id, event_id)
);
-- An account is absorbed by one other at most.
CREATE UNIQUE INDEX merges_by_absorbed ON merges (tenant_id, absorbed_id);
CREATE INDEX merges_by_survivor ON merges (survivor_id, tenant_id);
CREATE TRIGGER merges_no_truncate BEFORE TRUNCATE ON merges
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE merges ENABLE ALWAYS TRIGGER merges_no_truncate;

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
