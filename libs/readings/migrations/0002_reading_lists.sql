-- Up Migration
-- Each new reading first counts the unfinished ones of its workspace.
create index reading_in_flight on readings.reading (workspace_id) where status in ('queued', 'processing');

-- Lists are newest first.
create index reading_newest on readings.reading (workspace_id, created_at desc, reading_id desc);

-- Down Migration
drop index readings.reading_newest;
drop index readings.reading_in_flight;
