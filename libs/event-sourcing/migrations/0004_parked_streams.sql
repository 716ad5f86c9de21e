-- Up Migration

-- A row is the first event of a stream that waits. Rows of older programs, which wrote one for each waiting event, have
-- no key: it is the stream's id.
alter table event_sourcing.parked_event
  add column key             text,             -- what the consumer parks together: all streams of one entity
  add column revision        numeric(20, 0),   -- of the event in its stream
  add column cause_stream    text,             -- the event that keeps it from being handled; often itself
  add column cause_revision  numeric(20, 0),
  add column tried_at        timestamptz;      -- the last attempt; null: an operator asked for one
create index parked_event_key on event_sourcing.parked_event (consumer, key);

-- Skips of older programs become quarantines in the event store.
alter table event_sourcing.skipped_event add column quarantined_at timestamptz;

-- Down Migration
alter table event_sourcing.skipped_event drop column quarantined_at;
drop index event_sourcing.parked_event_key;
alter table event_sourcing.parked_event
  drop column key, drop column revision, drop column cause_stream, drop column cause_revision, drop column tried_at;
