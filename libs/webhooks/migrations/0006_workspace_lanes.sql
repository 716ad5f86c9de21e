-- Up Migration

-- A lane is a workspace. One worker at a time holds it, for a time slice, so that it keeps order and limits without
-- coordination with other workers. It is free again when its lease expires.
drop trigger delivery_opens_lane on webhooks.delivery;
drop table webhooks.lane;
create table webhooks.lane (
  workspace_id  text primary key,
  ready_at      timestamptz not null,           -- never later than something can be sent; infinity: nothing is pending
  lease         uuid,
  leased_until  timestamptz not null default '-infinity'
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index lane_ready on webhooks.lane (ready_at);

insert into webhooks.lane (workspace_id, ready_at)
select workspace_id, min(due_at) from webhooks.delivery where status = 'pending' group by workspace_id;

create or replace function webhooks.open_lanes() returns trigger language plpgsql as $$
begin
  insert into webhooks.lane as lane (workspace_id, ready_at)
  select workspace_id, min(due_at) from added where status = 'pending'
  group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set ready_at = excluded.ready_at where lane.ready_at > excluded.ready_at;
  return null;
end
$$;
create trigger delivery_opens_lane after insert on webhooks.delivery
referencing new table as added for each statement execute function webhooks.open_lanes();

-- Down Migration
drop trigger delivery_opens_lane on webhooks.delivery;
drop table webhooks.lane;
create table webhooks.lane (
  endpoint_id  text primary key,
  ready_at     timestamptz not null,
  due_from     timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index lane_ready on webhooks.lane (ready_at);
insert into webhooks.lane
select endpoint_id, min(due_at), min(due_at) from webhooks.delivery where status = 'pending' group by endpoint_id;
create or replace function webhooks.open_lanes() returns trigger language plpgsql as $$
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
