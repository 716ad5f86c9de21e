-- Up Migration
-- The notices that an endpoint has asked for. None, for all endpoints from before.
alter table webhooks.endpoint add column notices text[] not null default '{}';

-- A notice is about no reading: it has no reading_id, sequence 0, and no position in the feed.
--
-- Rolling upgrade: a worker of the previous version sends a notice as if it were an event. So ask for notices only once
-- all workers run this version.
alter table webhooks.public_event alter column reading_id drop not null;

-- Down Migration
delete from webhooks.delivery using webhooks.public_event event
  where event.event_id = delivery.event_id and event.reading_id is null;
delete from webhooks.public_event where reading_id is null;
alter table webhooks.public_event alter column reading_id set not null;
alter table webhooks.endpoint drop column notices;
