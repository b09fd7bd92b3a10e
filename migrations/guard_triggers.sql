-- Repairs level 1 after drift; run as the owner of the tables. Idempotent. :append_only and
-- :guarded are the lists of GuardedTables.swift.

-- Removes foreign objects that could swallow, hide or change rows.
DO $repair$
DECLARE
    place text;
    log regclass;
    stray record;
BEGIN
    FOREACH place IN ARRAY :guarded LOOP
        log := format('public.%I', place);
        FOR stray IN
            SELECT i.inhrelid::regclass AS child, i.inhparent::regclass AS parent, c.relispartition
            FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
            WHERE log IN (i.inhparent, i.inhrelid)
        LOOP
            IF stray.relispartition THEN
                EXECUTE format('ALTER TABLE %s DETACH PARTITION %s', stray.parent, stray.child);
            ELSE
                EXECUTE format('ALTER TABLE %s NO INHERIT %s', stray.child, stray.parent);
            END IF;
        END LOOP;
        -- Last, because a trigger inherited from a parent can only be dropped there.
        FOR stray IN
            SELECT t.tgname FROM pg_catalog.pg_trigger t
            WHERE t.tgrelid = log AND NOT t.tgisinternal
              AND (place = ANY (:append_only) OR t.tgname = place || '_no_truncate')
        LOOP
            EXECUTE format('DROP TRIGGER IF EXISTS %I ON public.%I', stray.tgname, place);
        END LOOP;
        FOR stray IN SELECT rulename FROM pg_catalog.pg_rewrite WHERE ev_class = log LOOP
            EXECUTE format('DROP RULE %I ON public.%I', stray.rulename, place);
        END LOOP;
        FOR stray IN SELECT polname FROM pg_catalog.pg_policy WHERE polrelid = log LOOP
            EXECUTE format('DROP POLICY %I ON public.%I', stray.polname, place);
        END LOOP;
        EXECUTE format(
            'ALTER TABLE public.%I DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY', place);
    END LOOP;
END
$repair$;

CREATE OR REPLACE FUNCTION public.ledger_refuse_change() RETURNS trigger
LANGUAGE plpgsql AS $refuse$
BEGIN
    RAISE EXCEPTION 'ledger: % is append-only, % is refused', TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$refuse$;

DO $triggers$
DECLARE
    place text;
BEGIN
    FOREACH place IN ARRAY :append_only LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON public.%I
            FOR EACH ROW EXECUTE FUNCTION public.ledger_refuse_change()', place || '_no_change', place);
        EXECUTE format(
            'ALTER TABLE public.%I ENABLE ALWAYS TRIGGER %I', place, place || '_no_change');
    END LOOP;
    FOREACH place IN ARRAY :guarded LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON public.%I
            FOR EACH STATEMENT EXECUTE FUNCTION public.ledger_refuse_change()',
            place || '_no_truncate', place);
        EXECUTE format(
            'ALTER TABLE public.%I ENABLE ALWAYS TRIGGER %I', place, place || '_no_truncate');
    END LOOP;
END
$triggers$;
