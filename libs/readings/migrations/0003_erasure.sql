-- Up Migration
-- When the personal data of a reading was erased: its key is gone, and with it all that was sealed.
alter table readings.reading add column erased_at timestamptz;

-- Down Migration
alter table readings.reading drop column erased_at;
