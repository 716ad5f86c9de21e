-- Up Migration
-- Failed readings are rare: without it, a list of them reads all readings of the workspace.
create index reading_newest_failed on readings.reading (workspace_id, created_at desc, reading_id desc)
  where status = 'failed';

-- Down Migration
drop index readings.reading_newest_failed;
