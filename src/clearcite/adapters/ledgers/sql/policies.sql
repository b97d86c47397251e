-- name: newest_policy
SELECT revision, content, issued_at FROM policies ORDER BY revision DESC LIMIT 1;

-- name: newest_snapshot
SELECT snapshot FROM policies ORDER BY revision DESC LIMIT 1;

-- name: add_policy
INSERT INTO policies (revision, content, issued_at, accepted_at, origin, snapshot) VALUES (?, ?, ?, ?, ?, ?);

-- name: reissue_policy
UPDATE policies
SET content = coalesce(?, content), issued_at = ?, accepted_at = ?, origin = ?, snapshot = coalesce(?, snapshot)
WHERE revision = ?;

-- name: drop_older_snapshots
UPDATE policies SET snapshot = NULL WHERE revision < ? AND snapshot IS NOT NULL;

-- name: raise_alarm
INSERT INTO policy_alarms (id, failed_at, failures, origin, reason) VALUES (1, ?, 1, ?, ?)
ON CONFLICT (id) DO UPDATE
SET failed_at = excluded.failed_at, failures = failures + 1, origin = excluded.origin, reason = excluded.reason;

-- name: end_alarm
DELETE FROM policy_alarms;

-- name: policy_status
SELECT revision, issued_at, accepted_at, origin, snapshot IS NOT NULL
FROM policies ORDER BY revision DESC LIMIT 1;

-- name: alarm_status
SELECT failed_at, failures, origin, reason FROM policy_alarms;
