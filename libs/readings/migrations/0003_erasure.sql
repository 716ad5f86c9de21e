-- Up Migration
-- When the personal data of a reading was erased: its key is destroyed, and its sealed data unreadable.
alter table readings.reading add column erased_at timestamptz;

-- Down Migration
alter table readings.reading drop column erased_at;
