-- What support searches by.
SELECT 1;
