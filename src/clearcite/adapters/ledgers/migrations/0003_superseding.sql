-- Which slots supersede others stands with their visibility: it is judged with them, and found among the readable
-- ones alone.
ALTER TABLE visibility ADD COLUMN supersedes INTEGER NOT NULL DEFAULT 0 CHECK (supersedes IN (0, 1));
UPDATE visibility SET supersedes = 1
WHERE gone = 0 AND EXISTS (
  SELECT 1 FROM projections p
  WHERE p.generation = visibility.generation AND p.partition = visibility.partition
    AND p.slot = visibility.slot AND p.supersedes = 1
);
DROP INDEX projections_superseding;
