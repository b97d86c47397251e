-- Which rule of retention a purge followed, as JSON; null for one that somebody asked for.
ALTER TABLE purges ADD COLUMN policy TEXT;
