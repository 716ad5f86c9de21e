-- Up Migration
-- How many readings of a workspace are not finished is asked before each new one.
create index reading_in_flight on readings.reading (workspace_id) where status in ('queued', 'processing');

-- Down Migration
drop index readings.reading_in_flight;
