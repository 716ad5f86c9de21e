-- Up Migration
-- False for readings that a test key made. All readings from before test mode are live.
alter table readings.reading add column livemode boolean not null default true;
alter table readings.result add column livemode boolean not null default true;

-- The list of a test key, beside any number of live readings.
create index reading_newest_test on readings.reading (workspace_id, created_at desc, reading_id desc) where not livemode;

-- Down Migration
alter table readings.result drop column livemode;
alter table readings.reading drop column livemode;
