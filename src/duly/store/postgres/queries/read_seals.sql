-- Which keys the values of this store are sealed with; a name each, and something to try the key on.
SELECT name, value FROM duly.duly_secrets WHERE name LIKE 'seal:%' ORDER BY name
