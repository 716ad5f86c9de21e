-- Up Migration

-- How many decisions about quarantines the projection's streams had when a version was verified. Null: not verified.
alter table event_sourcing.projection_version add column verified_quarantines bigint;

-- Down Migration
alter table event_sourcing.projection_version drop column verified_quarantines;
