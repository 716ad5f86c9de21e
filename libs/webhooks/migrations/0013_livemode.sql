-- Up Migration

-- The modes of the readings whose events an endpoint receives. All endpoints from before test mode receive live events.
alter table webhooks.endpoint add column modes text[] not null default '{live}';

-- Whether the event is of a live reading. All events from before test mode are.
alter table webhooks.public_event add column livemode boolean not null default true;
alter table webhooks.unreleased_failure add column livemode boolean not null default true;

-- The events that a replay chooses: of these modes.
alter table webhooks.replay add column modes text[] not null default '{live}';

-- Trials name a real reading and have number 0, any number of them. Only facts are numbered.
create unique index public_event_sequence on webhooks.public_event
  (reading_id, sequence, (case when position is null then event_id else '' end));
alter table webhooks.public_event drop constraint public_event_reading_id_sequence_key;

-- The feed of a test key, beside any number of live events.
create index public_event_test_feed on webhooks.public_event (workspace_id, position)
  where position is not null and not livemode;

-- For the sweep of test events, the oldest first.
create index public_event_test_age on webhooks.public_event (occurred_at) where not livemode;

-- Down Migration
drop index webhooks.public_event_test_age;
drop index webhooks.public_event_test_feed;
delete from webhooks.delivery using webhooks.public_event event
  where event.event_id = delivery.event_id and event.sequence = 0;
delete from webhooks.public_event where sequence = 0;
alter table webhooks.public_event add unique (reading_id, sequence);
drop index webhooks.public_event_sequence;
alter table webhooks.replay drop column modes;
alter table webhooks.unreleased_failure drop column livemode;
alter table webhooks.public_event drop column livemode;
alter table webhooks.endpoint drop column modes;
