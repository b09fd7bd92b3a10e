\set n :n + 1
\set person :run * 1000000000 + :client_id * 1000000 + :n
BEGIN;
SELECT user_id FROM state_based_user_providers
    WHERE provider = 'google' AND provider_id = 'google-' || (:person)::bigint;
INSERT INTO state_based_user_providers (user_id, provider, provider_id, email)
    VALUES (:person, 'google', 'google-' || (:person)::bigint,
        'person-' || (:person)::bigint || '@example.com');
SELECT provider FROM state_based_user_providers WHERE user_id = :person ORDER BY linked_at, id;
COMMIT;
