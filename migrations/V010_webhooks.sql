-- Webhooks.
SELECT 1;
