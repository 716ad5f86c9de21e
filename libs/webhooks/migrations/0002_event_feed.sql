-- Up Migration

-- Position of the fact in the log: the order of the feed and of replays. Null: a test event, which is no fact.
alter table webhooks.public_event add column position numeric(20, 0);

-- Events stored before this column existed: in their order, and before every later one, because the nth public event
-- is at least the nth event of the log.
update webhooks.public_event set position = numbered.place
from (
  select event_id, row_number() over (order by occurred_at, reading_id, sequence) - 1 as place
  from webhooks.public_event event
  where not exists (select from webhooks.delivery where delivery.event_id = event.event_id and delivery.test)
) numbered
where public_event.event_id = numbered.event_id;

create unique index public_event_feed on webhooks.public_event (workspace_id, position) where position is not null;

-- Down Migration
drop index webhooks.public_event_feed;
alter table webhooks.public_event drop column position;
