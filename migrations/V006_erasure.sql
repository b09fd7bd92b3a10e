-- Erasure and legal holds.

-- The holds of an account, as the log leaves them; null when it has none.
ALTER TABLE accounts ADD COLUMN legal_holds uuid[];
CREATE INDEX accounts_held ON accounts (tenant_id, account_id) WHERE legal_holds IS NOT NULL;

-- An erasure finds what was ever last an account's, linked or not. Of a linked identity, account_id and
-- last_account_id are the same, so one index serves both.
DROP INDEX identities_by_account;
CREATE INDEX identities_by_last_account ON identities (last_account_id, tenant_id);

-- What is left of an erased account: where its history begins and ends, which the log says, too. Nothing
-- of the person. It also says how far the worker has come that destroys the disclosures, which no key
-- opens any more.
CREATE TABLE erasures (
    tenant_id text COLLATE "C" NOT NULL,
    account_id uuid NOT NULL,
    opened_position bigint NOT NULL,
    next_seq bigint NOT NULL,
    last_leaf bytea NOT NULL CHECK (octet_length(last_leaf) = 32),
    -- Of the AccountErased.
    position bigint NOT NULL,
    erased_at timestamptz NOT NULL,
    -- The account's own events before this one have no disclosures left.
    destroyed_seq bigint NOT NULL DEFAULT 0,
    -- Where account_audit cannot tell: the log has been searched up to here.
    searched_position bigint NOT NULL DEFAULT 0,
    -- When nothing was left to destroy.
    destroyed_at timestamptz,
    PRIMARY KEY (tenant_id, account_id)
);
CREATE INDEX erasures_pending ON erasures (erased_at) WHERE destroyed_at IS NULL;
CREATE INDEX erasures_by_time ON erasures (erased_at);
CREATE TRIGGER erasures_no_truncate BEFORE TRUNCATE ON erasures
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();
ALTER TABLE erasures ENABLE ALWAYS TRIGGER erasures_no_truncate;

-- Destruction ------------------------------------------------------------------------------------------
--
-- The login that serves may delete none of these rows by itself. It may call these functions, which run
-- with the owner's rights and destroy only what an AccountErased in the log is about.

-- Takes an account's rows away, in the transaction that appends the event; returns how many accounts.
CREATE FUNCTION ledger_erase_accounts(tenants text[], accounts uuid[], positions bigint[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    wanted record;
    erased record;
    gone record;
    total bigint := 0;
BEGIN
    FOR wanted IN
        SELECT * FROM unnest(tenants, accounts, positions) AS k (tenant, account, place)
    LOOP
        SELECT e.account_seq, e.recorded_at, e.entry INTO erased FROM public.events e
        WHERE e.tenant_id = wanted.tenant AND e.position = wanted.place
            AND e.type = 'AccountErased' AND e.account_id = wanted.account;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'ledger: no AccountErased of account % at position % of tenant %',
                wanted.account, wanted.place, wanted.tenant
                USING ERRCODE = 'insufficient_privilege';
        END IF;
        DELETE FROM public.accounts a
        WHERE a.tenant_id = wanted.tenant AND a.account_id = wanted.account
        RETURNING a.opened_position, a.legal_holds INTO gone;
        IF NOT FOUND OR gone.legal_holds IS NOT NULL THEN
            RAISE EXCEPTION 'ledger: account % of tenant % is not there, or held',
                wanted.account, wanted.tenant
                USING ERRCODE = 'data_exception';
        END IF;
        INSERT INTO public.erasures (tenant_id, account_id, opened_position, next_seq, last_leaf,
            position, erased_at)
        VALUES (wanted.tenant, wanted.account, gone.opened_position, erased.account_seq + 1,
            sha256('\x00'::bytea || erased.entry), wanted.place, erased.recorded_at);
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
$$;

-- Takes the disclosures about an erased account away at some positions; returns how many rows.
CREATE FUNCTION ledger_destroy_disclosures(tenant text, account uuid, positions bigint[])
RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    total bigint;
BEGIN
    PERFORM FROM public.erasures x JOIN public.events e
        ON e.tenant_id = x.tenant_id AND e.position = x.position
    WHERE x.tenant_id = tenant AND x.account_id = account
        AND e.type = 'AccountErased' AND e.account_id = account;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'ledger: account % of tenant % was not erased', account, tenant
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    DELETE FROM public.disclosures d
    WHERE d.tenant_id = tenant AND d.account_id = account AND d.position = ANY (positions);
    GET DIAGNOSTICS total = ROW_COUNT;
    RETURN total;
END
$$;

REVOKE ALL ON FUNCTION ledger_erase_accounts(text[], uuid[], bigint[]),
    ledger_destroy_disclosures(text, uuid, bigint[]) FROM PUBLIC;
