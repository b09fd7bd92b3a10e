-- Level 3: refuses, even to the owner, changes that would undo levels 1 and 2. Run as a superuser
-- in one transaction at every migration: recreating everything removes any drift. :append_only,
-- :erasable and :guarded are the lists of GuardedTables.swift.
--
-- There is no switch: only a superuser can ALTER EVENT TRIGGER ... DISABLE. The function has its
-- own schema because the owner of a schema may drop everything in it.

DROP EVENT TRIGGER IF EXISTS ledger_guard_ddl;
DROP EVENT TRIGGER IF EXISTS ledger_guard_drop;
DROP EVENT TRIGGER IF EXISTS ledger_guard_rewrite;
DROP SCHEMA IF EXISTS ledger_guard CASCADE;
CREATE SCHEMA ledger_guard;

CREATE FUNCTION ledger_guard.refuse_change() RETURNS event_trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $guard$
DECLARE
    home oid := (SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'public');
    refuser oid := (SELECT p.oid FROM pg_proc p WHERE p.pronamespace = home
        AND p.proname = 'ledger_refuse_change' AND p.pronargs = 0);
    -- Nothing about these is altered; of the others, nothing is dropped or rewritten.
    logs oid[] := (SELECT array_agg(c.oid) FROM pg_class c
        WHERE c.relnamespace = home AND c.relkind = 'r' AND c.relname = ANY (:append_only));
    kept oid[] := (SELECT array_agg(c.oid) FROM pg_class c
        WHERE c.relnamespace = home AND c.relkind = 'r' AND c.relname = ANY (:guarded));
    reason text;
BEGIN
    IF TG_EVENT = 'table_rewrite' THEN
        IF pg_event_trigger_table_rewrite_oid() = ANY (kept) THEN
            reason := 'rewrites a table of the log';
        END IF;
    ELSIF TG_EVENT = 'sql_drop' THEN
        -- The table, and what hangs on it: columns, triggers, constraints, defaults.
        IF EXISTS (SELECT FROM pg_event_trigger_dropped_objects() d
            WHERE d.address_names[1] = 'public' AND d.address_names[2] = ANY (:guarded)
               OR d.address_names = ARRAY['public', 'ledger_refuse_change']
               OR (d.object_type = 'schema' AND d.object_name IN ('public', 'ledger_guard')))
        THEN
            reason := 'drops a part of the log or of its guards';
        END IF;
    ELSIF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() c
        WHERE c.command_tag NOT IN ('COMMENT', 'SECURITY LABEL')
          AND ((c.classid = 'pg_class'::regclass AND c.objid = ANY (logs))
            OR (c.classid = 'pg_proc'::regclass AND c.objid = refuser)
            OR (c.classid = 'pg_namespace'::regclass AND c.objid = home)
            OR (c.classid = 'pg_trigger'::regclass AND EXISTS (
                SELECT FROM pg_trigger t WHERE t.oid = c.objid AND t.tgrelid = ANY (logs)))))
    THEN
        reason := 'alters the log or its guards';
    END IF;

    -- Commands on rules and privileges do not name their table to us, so the outcome is looked at.
    IF reason IS NULL AND TG_EVENT <> 'table_rewrite' THEN
        reason := CASE
            WHEN refuser IS NULL OR cardinality(kept) IS DISTINCT FROM cardinality(:guarded)
                THEN 'takes away a table of the log or its guard function'
            WHEN cardinality(:append_only) + cardinality(:guarded) <> (
                SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                WHERE t.tgenabled = 'A' AND t.tgfoid = refuser AND t.tgrelid = ANY (kept)
                  AND t.tgqual IS NULL AND t.tgattr = ''::int2vector
                  AND (t.tgname = c.relname || '_no_truncate' AND t.tgtype = 34
                    OR t.tgname = c.relname || '_no_change' AND t.tgtype = 27
                        AND t.tgrelid = ANY (logs)))
              OR 2 * cardinality(:append_only) <> (SELECT count(*) FROM pg_trigger t
                WHERE t.tgrelid = ANY (logs) AND NOT t.tgisinternal)
                THEN 'changes the triggers of the log'
            WHEN EXISTS (SELECT FROM pg_rewrite r WHERE r.ev_class = ANY (kept))
                THEN 'puts a rule on the log'
            WHEN EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = ANY (kept))
              OR EXISTS (SELECT FROM pg_class c WHERE c.oid = ANY (kept) AND c.relrowsecurity)
                THEN 'puts a policy on the log'
            WHEN 1 < (SELECT count(DISTINCT c.relowner) FROM pg_class c WHERE c.oid = ANY (kept))
                THEN 'gives a part of the log to another owner'
            WHEN EXISTS (SELECT FROM pg_inherits i
                WHERE i.inhparent = ANY (kept) OR i.inhrelid = ANY (kept))
                THEN 'makes the log a part or a whole'
            WHEN EXISTS (SELECT FROM pg_class c, aclexplode(c.relacl) a
                WHERE c.oid = ANY (kept) AND a.grantee <> c.relowner
                  AND (a.privilege_type IN ('TRUNCATE', 'TRIGGER')
                    OR a.privilege_type IN ('UPDATE', 'DELETE')
                        AND c.relname = ANY (:append_only || :erasable)))
              OR EXISTS (SELECT FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid,
                    aclexplode(t.attacl) a
                WHERE c.oid = ANY (kept) AND c.relname = ANY (:append_only || :erasable)
                  AND a.grantee <> c.relowner AND a.privilege_type = 'UPDATE')
                THEN 'grants a change of the log'
            END;
    END IF;

    IF reason IS NOT NULL THEN
        RAISE EXCEPTION 'ledger: the log is append-only, % is refused: it %', TG_TAG, reason
            USING ERRCODE = 'insufficient_privilege';
    END IF;
END
$guard$;

CREATE EVENT TRIGGER ledger_guard_ddl ON ddl_command_end
    EXECUTE FUNCTION ledger_guard.refuse_change();
CREATE EVENT TRIGGER ledger_guard_drop ON sql_drop
    EXECUTE FUNCTION ledger_guard.refuse_change();
CREATE EVENT TRIGGER ledger_guard_rewrite ON table_rewrite
    EXECUTE FUNCTION ledger_guard.refuse_change();
ALTER EVENT TRIGGER ledger_guard_ddl ENABLE ALWAYS;
ALTER EVENT TRIGGER ledger_guard_drop ENABLE ALWAYS;
ALTER EVENT TRIGGER ledger_guard_rewrite ENABLE ALWAYS;
