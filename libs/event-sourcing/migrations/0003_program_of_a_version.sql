-- Up Migration

-- Which build of the program makes the rows of a version. Null: begun before it was recorded.
alter table event_sourcing.projection_version add column program text;

-- Down Migration
alter table event_sourcing.projection_version drop column program;
