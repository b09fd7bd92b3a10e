-- The sessions of the console, of people and not of tenants: a person may have roles in several.
CREATE TABLE console_sessions (
    -- The keyed digest of the secret in the browser's cookie.
    token_digest bytea PRIMARY KEY CHECK (octet_length(token_digest) = 32),
    staff_id uuid NOT NULL,
    -- The name, the roles and the time of the sign-in: encrypted and authenticated, together with the digest.
    content text COLLATE "C" NOT NULL CHECK (octet_length(content) <= 65536),
    used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);

-- Signing out everywhere.
CREATE INDEX console_sessions_staff ON console_sessions (staff_id);

-- Sweeping.
CREATE INDEX console_sessions_expiry ON console_sessions (expires_at);
