-- Lists the unmet requirements of each append-only level; no row for a level means that it is met.
-- $1: the runtime logins. $2, $3: the bodies of the guard functions of level 1 and level 3. $4, $5:
-- names and bodies of the functions that destroy data. :append_only, :erasable and :guarded are the
-- lists of GuardedTables.swift.
WITH guarded AS (
    SELECT g.name, g.name = ANY (:append_only) AS is_log,
        g.name = ANY (:append_only || :erasable) AS is_evidence
    FROM unnest(:guarded) g(name)
), log AS (
    SELECT c.oid, g.name, g.is_log, g.is_evidence, c.relowner, c.relacl, c.relrowsecurity
    FROM guarded g JOIN pg_catalog.pg_class c ON c.relname = g.name AND c.relkind = 'r'
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
), refuser AS (
    SELECT p.oid, p.proowner, p.prosrc, l.lanname
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE n.nspname = 'public' AND p.proname = 'ledger_refuse_change' AND p.pronargs = 0
), owner AS (
    SELECT relowner AS oid FROM log UNION SELECT proowner FROM refuser
), wanted(place, name, type) AS (
    SELECT g.name, g.name || '_no_truncate', 34 FROM guarded g
    UNION ALL
    SELECT g.name, g.name || '_no_change', 27 FROM guarded g WHERE g.is_log
), guard_trigger AS (
    SELECT t.tgname::text AS name FROM pg_catalog.pg_trigger t
    JOIN log ON t.tgrelid = log.oid JOIN refuser ON t.tgfoid = refuser.oid
    JOIN wanted w ON w.place = log.name AND t.tgname = w.name AND t.tgtype = w.type
    WHERE t.tgenabled = 'A' AND t.tgqual IS NULL AND t.tgattr = ''::int2vector
), login AS (
    SELECT r.oid, r.rolname, r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = ANY ($1::text[])
), serving AS (
    SELECT l.oid, l.rolname FROM login l WHERE NOT l.rolsuper
), grants AS (
    SELECT log.name, log.is_evidence, a.grantee, a.privilege_type
    FROM log, aclexplode(log.relacl) a
    WHERE a.grantee <> log.relowner
    UNION
    SELECT log.name, log.is_evidence, a.grantee, a.privilege_type
    FROM log JOIN pg_catalog.pg_attribute t ON t.attrelid = log.oid, aclexplode(t.attacl) a
    WHERE a.grantee <> log.relowner
), lent AS (
    SELECT p.oid, p.proacl, p.proowner, p.proconfig
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE p.prosecdef AND n.nspname = 'public'
      AND (p.proowner IN (SELECT oid FROM owner)
        OR p.proowner IN (SELECT r.oid FROM pg_catalog.pg_roles r WHERE r.rolsuper))
), wanted_event(name, event) AS (
    VALUES ('ledger_guard_ddl', 'ddl_command_end'), ('ledger_guard_drop', 'sql_drop'),
        ('ledger_guard_rewrite', 'table_rewrite')
)
SELECT 1 AS level, format('the table %s is missing', g.name) AS finding
FROM guarded g WHERE g.name NOT IN (SELECT log.name FROM log)
UNION ALL
SELECT 1, format('the trigger %s is missing, altered or not ENABLE ALWAYS', w.name)
FROM wanted w WHERE w.name NOT IN (SELECT g.name FROM guard_trigger g)
UNION ALL
SELECT 1, format('%s has another trigger, %s', log.name, t.tgname)
FROM pg_catalog.pg_trigger t JOIN log ON t.tgrelid = log.oid
WHERE log.is_log AND NOT t.tgisinternal AND t.tgname NOT IN (SELECT w.name FROM wanted w)
UNION ALL
SELECT 1, 'the function ledger_refuse_change was altered'
FROM refuser f WHERE f.lanname <> 'plpgsql'
    OR regexp_replace(f.prosrc, '\s+', ' ', 'g') <> regexp_replace($2, '\s+', ' ', 'g')
UNION ALL
SELECT 1, format('%s has a rule, %s', log.name, r.rulename)
FROM pg_catalog.pg_rewrite r JOIN log ON r.ev_class = log.oid
UNION ALL
SELECT 1, format('%s has row security', log.name)
FROM log WHERE log.relrowsecurity
    OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = log.oid)
UNION ALL
SELECT DISTINCT 1, format('%s inherits from %s', i.inhrelid::regclass, i.inhparent::regclass)
FROM pg_catalog.pg_inherits i JOIN log ON log.oid IN (i.inhparent, i.inhrelid)
UNION ALL
SELECT 2, format('there is no login %s', n.name)
FROM unnest($1::text[]) n (name) WHERE n.name NOT IN (SELECT l.rolname FROM login l)
UNION ALL
SELECT 2, format('the login %s is a superuser', l.rolname)
FROM login l WHERE l.rolsuper
UNION ALL
SELECT 2, format('the login %s may act as %s, which owns the log or its guards', s.rolname,
    o.rolname)
FROM serving s JOIN pg_catalog.pg_roles o ON o.oid IN (SELECT oid FROM owner)
WHERE pg_has_role(s.oid, o.oid, 'MEMBER')
UNION ALL
SELECT 2, format('the login %s may act as %s, which can become any role', s.rolname, r.rolname)
FROM serving s JOIN pg_catalog.pg_roles r ON r.rolsuper OR r.rolcreaterole
    OR r.rolname IN ('pg_write_server_files', 'pg_execute_server_program')
WHERE pg_has_role(s.oid, r.oid, 'MEMBER')
UNION ALL
SELECT 2, format('the login %s may act as %s, which can write all tables', s.rolname, r.rolname)
FROM serving s JOIN pg_catalog.pg_roles r ON r.rolname = 'pg_write_all_data'
WHERE pg_has_role(s.oid, r.oid, 'MEMBER')
UNION ALL
SELECT 2, format('the login %s may create or drop objects in the schema public', s.rolname)
FROM serving s JOIN pg_catalog.pg_namespace n ON n.nspname = 'public'
WHERE has_schema_privilege(s.oid, n.oid, 'CREATE') OR pg_has_role(s.oid, n.nspowner, 'MEMBER')
UNION ALL
SELECT 2, format('%s may %s %s',
    CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, g.privilege_type,
    g.name)
FROM grants g WHERE g.privilege_type IN ('TRUNCATE', 'TRIGGER')
    OR g.is_evidence AND g.privilege_type IN ('UPDATE', 'DELETE')
UNION ALL
-- Without its own path, the caller could substitute temporary tables for those of the function.
SELECT 2, format('the function %s is SECURITY DEFINER without its own search_path',
    f.oid::regprocedure)
FROM lent f WHERE NOT EXISTS (SELECT FROM unnest(f.proconfig) c(setting)
    WHERE c.setting ~ '^search_path=pg_catalog, (public, )?pg_temp$')
UNION ALL
SELECT 2, format('the function %s is missing or was altered', w.name)
FROM unnest($4::text[], $5::text[]) w (name, body)
WHERE NOT EXISTS (
    SELECT FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE n.nspname = 'public' AND p.proname = w.name AND l.lanname = 'plpgsql'
      AND p.proowner IN (SELECT oid FROM owner)
      AND 'search_path=pg_catalog, pg_temp' = ANY (p.proconfig)
      AND regexp_replace(p.prosrc, '\s+', ' ', 'g') = regexp_replace(w.body, '\s+', ' ', 'g'))
UNION ALL
SELECT 2, format('PUBLIC may execute the SECURITY DEFINER function %s',
    f.oid::regprocedure)
FROM lent f WHERE EXISTS (SELECT
    FROM aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) a WHERE a.grantee = 0)
UNION ALL
SELECT 3, format('the event trigger %s is missing, altered or not ENABLE ALWAYS', w.name)
FROM wanted_event w WHERE NOT EXISTS (
    SELECT FROM pg_catalog.pg_event_trigger e
    JOIN pg_catalog.pg_proc p ON p.oid = e.evtfoid
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_roles po ON po.oid = p.proowner
    JOIN pg_catalog.pg_roles no ON no.oid = n.nspowner
    WHERE e.evtname = w.name AND e.evtevent = w.event AND e.evtenabled = 'A' AND e.evttags IS NULL
      AND n.nspname = 'ledger_guard' AND p.proname = 'refuse_change' AND po.rolsuper AND no.rolsuper
      AND regexp_replace(p.prosrc, '\s+', ' ', 'g') = regexp_replace($3, '\s+', ' ', 'g'))
ORDER BY level, finding
