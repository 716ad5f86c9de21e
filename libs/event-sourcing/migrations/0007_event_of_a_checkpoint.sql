-- Up Migration

-- The last event that the consumer has handled. A log that does not have it is not the one of this database. Null: moved
-- only by older programs so far.
alter table event_sourcing.consumer
  add column event_id     uuid,
  add column event_place  text;   -- <stream>@<revision>

-- Down Migration
alter table event_sourcing.consumer drop column event_id, drop column event_place;
