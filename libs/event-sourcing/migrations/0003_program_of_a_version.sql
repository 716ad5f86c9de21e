-- Up Migration

-- The build of the program that makes the rows of a version. Null: started before this was recorded.
alter table event_sourcing.projection_version add column program text;

-- Down Migration
alter table event_sourcing.projection_version drop column program;
