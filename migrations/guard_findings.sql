-- What is missing of each append-only level, in words; no row for a level means that it holds.
-- $1: the login that serves. $2, $3: the bodies of the guard functions of level 1 and level 3.
WITH log AS (
    SELECT c.oid, c.relowner, c.relacl, c.relrowsecurity
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND c.relname = 'events' AND c.relkind = 'r'
), refuser AS (
    SELECT p.oid, p.proowner, p.prosrc, l.lanname
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE n.nspname = 'public' AND p.proname = 'ledger_refuse_change' AND p.pronargs = 0
), wanted(name, type) AS (
    VALUES ('events_no_change', 27), ('events_no_truncate', 34)
), guard_trigger AS (
    SELECT t.tgname::text AS name FROM pg_catalog.pg_trigger t
    JOIN log ON t.tgrelid = log.oid JOIN refuser ON t.tgfoid = refuser.oid
    JOIN wanted w ON t.tgname = w.name AND t.tgtype = w.type
    WHERE t.tgenabled = 'A' AND t.tgqual IS NULL AND t.tgattr = ''::int2vector
), login AS (
    SELECT r.oid, r.rolname, r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = $1
), serving AS (
    SELECT l.oid FROM login l WHERE NOT l.rolsuper
), grants AS (
    SELECT a.grantee, a.privilege_type FROM log, aclexplode(log.relacl) a
    WHERE a.grantee <> log.relowner
    UNION
    SELECT a.grantee, a.privilege_type
    FROM log JOIN pg_catalog.pg_attribute t ON t.attrelid = log.oid, aclexplode(t.attacl) a
    WHERE a.grantee <> log.relowner
), wanted_event(name, event) AS (
    VALUES ('ledger_guard_ddl', 'ddl_command_end'), ('ledger_guard_drop', 'sql_drop'),
        ('ledger_guard_rewrite', 'table_rewrite')
)
SELECT 1 AS level, 'the table events is missing' AS finding
WHERE NOT EXISTS (SELECT FROM log)
UNION ALL
SELECT 1, format('the trigger %s is missing, altered or not ENABLE ALWAYS', w.name)
FROM wanted w WHERE w.name NOT IN (SELECT g.name FROM guard_trigger g)
UNION ALL
SELECT 1, format('events has another trigger, %s', t.tgname)
FROM pg_catalog.pg_trigger t JOIN log ON t.tgrelid = log.oid
WHERE NOT t.tgisinternal AND t.tgname NOT IN (SELECT w.name FROM wanted w)
UNION ALL
SELECT 1, 'the function ledger_refuse_change was altered'
FROM refuser f WHERE f.lanname <> 'plpgsql'
    OR regexp_replace(f.prosrc, '\s+', ' ', 'g') <> regexp_replace($2, '\s+', ' ', 'g')
UNION ALL
SELECT 1, format('events has a rule, %s', r.rulename)
FROM pg_catalog.pg_rewrite r JOIN log ON r.ev_class = log.oid
UNION ALL
SELECT 1, 'events has row security'
FROM log WHERE log.relrowsecurity
    OR EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = log.oid)
UNION ALL
SELECT 1, format('%s inherits from %s', i.inhrelid::regclass, i.inhparent::regclass)
FROM pg_catalog.pg_inherits i JOIN log ON log.oid IN (i.inhparent, i.inhrelid)
UNION ALL
SELECT 2, format('there is no login %s', $1)
WHERE NOT EXISTS (SELECT FROM login)
UNION ALL
SELECT 2, format('the login %s is a superuser', l.rolname)
FROM login l WHERE l.rolsuper
UNION ALL
SELECT 2, format('the login %s may act as %s, which owns events or their guards', $1, o.rolname)
FROM serving s JOIN pg_catalog.pg_roles o
    ON o.oid IN (SELECT relowner FROM log UNION SELECT proowner FROM refuser)
WHERE pg_has_role(s.oid, o.oid, 'MEMBER')
UNION ALL
SELECT 2, format('the login %s may act as %s, which can make itself anybody', $1, r.rolname)
FROM serving s JOIN pg_catalog.pg_roles r ON r.rolsuper OR r.rolcreaterole
    OR r.rolname IN ('pg_write_server_files', 'pg_execute_server_program')
WHERE pg_has_role(s.oid, r.oid, 'MEMBER')
UNION ALL
SELECT 2, format('the login %s may act as %s, which writes all tables', $1, r.rolname)
FROM serving s JOIN pg_catalog.pg_roles r ON r.rolname = 'pg_write_all_data'
WHERE pg_has_role(s.oid, r.oid, 'MEMBER')
UNION ALL
SELECT 2, format('the login %s may create or drop objects in the schema public', $1)
FROM serving s JOIN pg_catalog.pg_namespace n ON n.nspname = 'public'
WHERE has_schema_privilege(s.oid, n.oid, 'CREATE') OR pg_has_role(s.oid, n.nspowner, 'MEMBER')
UNION ALL
SELECT 2, format('%s may %s events',
    CASE g.grantee WHEN 0 THEN 'everybody' ELSE g.grantee::regrole::text END, g.privilege_type)
FROM grants g WHERE g.privilege_type IN ('UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER')
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
