-- Relinking.
SELECT 1;
