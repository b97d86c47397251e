-- A list of a collection is sealed with its path: one that somebody changed admits nobody.
-- ``collection_seal`` is given by the program that migrates; what stands there now is taken as it is.
ALTER TABLE collections ADD COLUMN seal TEXT NOT NULL DEFAULT '';
UPDATE collections SET seal = collection_seal(path, allow, deny);
