-- The rows that GET /v1/account reads, with a numeric key for pgbench.

SET client_min_messages = warning;
DROP TABLE IF EXISTS select_rows;
CREATE TABLE select_rows AS
SELECT row_number() OVER () AS n, * FROM user_providers
WHERE tenant_id = 'default' AND provider = 'google';
ALTER TABLE select_rows ADD PRIMARY KEY (n);
VACUUM ANALYZE select_rows;
