-- Up Migration

-- When an endpoint next has something to send, so that the search for work does not scan all pending deliveries. Never
-- later than its earliest pending delivery is due; for a probed endpoint, the time of its next probe.
create table webhooks.lane (
  endpoint_id  text primary key,
  ready_at     timestamptz not null,           -- infinity: nothing is pending
  due_from     timestamptz not null            -- nothing pending is due before: looks begin here, past what was sent
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index lane_ready on webhooks.lane (ready_at);

insert into webhooks.lane
select endpoint_id, min(due_at), min(due_at) from webhooks.delivery where status = 'pending' group by endpoint_id;

-- A statement that adds deliveries opens their lanes in a fixed order, so that two of them cannot deadlock.
create function webhooks.open_lanes() returns trigger language plpgsql as $$
begin
  insert into webhooks.lane as lane (endpoint_id, ready_at, due_from)
  select endpoint_id, min(due_at), min(due_at) from added where status = 'pending'
  group by endpoint_id order by endpoint_id
  on conflict (endpoint_id) do update
  set ready_at = least(lane.ready_at, excluded.ready_at), due_from = least(lane.due_from, excluded.due_from)
  where lane.ready_at > excluded.ready_at or lane.due_from > excluded.due_from;
  return null;
end
$$;
create trigger delivery_opens_lane after insert on webhooks.delivery
referencing new table as added for each statement execute function webhooks.open_lanes();

-- For each endpoint, new events precede replayed ones.
drop index webhooks.delivery_due;
create index delivery_due on webhooks.delivery (endpoint_id, due_at) where status = 'pending' and replay_id is null;
create index delivery_replay_due on webhooks.delivery (endpoint_id, due_at)
  where status = 'pending' and replay_id is not null;

-- Down Migration
drop trigger delivery_opens_lane on webhooks.delivery;
drop function webhooks.open_lanes();
drop table webhooks.lane;
drop index webhooks.delivery_due;
drop index webhooks.delivery_replay_due;
create index delivery_due on webhooks.delivery (endpoint_id, due_at) where status = 'pending';
