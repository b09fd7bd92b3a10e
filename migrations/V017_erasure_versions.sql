-- AccountErased has a second version, which names the account that stood for the erased one: both erase.
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
    IF (said ->> 'type' = 'AccountErased' AND said ->> 'v' IN ('1', '2')
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
