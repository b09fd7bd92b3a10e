-- A state-based schema: no history, a row for each link, two unique keys.

CREATE TABLE state_based_users (
    id bigint PRIMARY KEY
);

CREATE TABLE state_based_user_providers (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES state_based_users,
    provider text NOT NULL,
    provider_id text NOT NULL,
    email text,
    linked_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (provider, provider_id),
    UNIQUE (user_id, provider)
);
