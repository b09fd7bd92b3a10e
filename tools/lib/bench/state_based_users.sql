-- A run begins with people who have signed in with Apple; each run has different people.

INSERT INTO state_based_users
SELECT :run * 1000000000::bigint + client * 1000000::bigint + n
FROM generate_series(0, :clients - 1) AS client, generate_series(1, :links_each) AS n;

INSERT INTO state_based_user_providers (user_id, provider, provider_id, email)
SELECT id, 'apple', 'apple-' || id, 'person-' || id || '@example.com'
FROM state_based_users WHERE id >= :run * 1000000000::bigint;

VACUUM ANALYZE state_based_users, state_based_user_providers;
