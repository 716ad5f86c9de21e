-- Up Migration
-- For the sweep of test readings, the oldest first.
create index reading_test_age on readings.reading (created_at, reading_id) where not livemode and erased_at is null;

-- Down Migration
drop index readings.reading_test_age;
