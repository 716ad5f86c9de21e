-- Up Migration

-- What retention has deleted of the feed of each workspace, by mode and type, of events and of notices. A cursor or a
-- replay that reaches behind it gets 410, and the fan-out makes none of it again.
create table webhooks.deleted_past (
  workspace_id  text not null,
  livemode      boolean not null,
  type          text not null,
  position      numeric(20, 0) not null,     -- the highest deleted one, in its feed
  until         timestamptz not null,        -- everything that happened before has been deleted
  primary key (workspace_id, livemode, type)
);

-- The number of the last public event of a reading whose events have been deleted, so that later ones continue from it.
create table webhooks.last_sequence (
  reading_id  uuid primary key,
  sequence    integer not null
);

-- For retention, the oldest first. The index of live events is built while others write (libs/webhooks/src/manifest.ts).
--
-- Rolling upgrade: a worker of the previous version knows neither table, and deletes no live event. So set
-- WEBHOOK_EVENTS_KEPT_DAYS below the age of the oldest event only once all workers run this version.
create index notice_test_age on webhooks.notice (occurred_at) where not livemode;

-- Down Migration
drop index webhooks.notice_test_age;
drop index if exists webhooks.public_event_age;
drop table webhooks.last_sequence;
drop table webhooks.deleted_past;
