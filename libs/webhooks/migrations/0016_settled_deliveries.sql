-- Up Migration

-- Settled deliveries, each appended once with its attempts, in a partition for each week (docs/adr/0031).
-- webhooks.delivery is the queue from now on: a delivery leaves it when it is settled. webhooks.attempt has the attempts
-- of deliveries that are still in the queue.
--
-- Rolling upgrade: both versions claim, send and skip in the same queue. A process of the previous version settles a
-- delivery where it is. Workers of this version move such rows in steps (processes/settled/move-settled.ts).
create table webhooks.settled_delivery (
  delivery_id    uuid not null,
  endpoint_id    text not null,
  event_id       text not null,
  status         text not null check (status in ('succeeded', 'exhausted', 'skipped')),
  attempts       integer not null,
  test           boolean not null,
  redelivery     boolean not null,
  replay_id      uuid,
  created_at     timestamptz not null,
  settled_at     timestamptz not null,
  started_at     timestamptz,              -- of the last attempt, as what follows. Null: there was none
  duration_ms    integer,
  status_code    integer,
  error          text,
  response_body  bytea,
  earlier        jsonb                     -- attempts before it, oldest first: [{number, startedAt, durationMs, statusCode, error}]
) partition by range (settled_at);
create index settled_delivery_id on webhooks.settled_delivery (delivery_id);
create index settled_delivery_of_endpoint on webhooks.settled_delivery (endpoint_id, created_at desc, delivery_id desc);
create index settled_delivery_of_event on webhooks.settled_delivery (event_id);
create index settled_delivery_unsucceeded on webhooks.settled_delivery (endpoint_id, created_at desc, delivery_id desc)
  where status <> 'succeeded';
create index settled_delivery_of_replay on webhooks.settled_delivery (replay_id, status) where replay_id is not null;

-- The net: what no partition of a week takes.
create table webhooks.settled_delivery_other partition of webhooks.settled_delivery default;

-- Makes the partitions of all weeks (ISO, UTC) from one instant to another that do not exist yet, and moves what the net
-- has of those weeks. The application calls it: its role may create no table. Sending waits 150 ms for it at most.
create function webhooks.add_partitions(since timestamptz, until timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '150ms' as $$
declare
  week timestamptz := date_trunc('week', since);
  partition text;
begin
  while week <= until loop
    partition := 'settled_delivery_' || to_char(week, 'IYYY"w"IW');
    if to_regclass('webhooks.settled_delivery') is not null and not exists (
      select from pg_class where relname = partition and relnamespace = (
        select relnamespace from pg_class where oid = 'webhooks.settled_delivery'::regclass)) then
      execute format('create table webhooks.settled_delivery_%s (like webhooks.settled_delivery including all)',
                     to_char(week, 'IYYY"w"IW'));
      lock table webhooks.settled_delivery_other in share row exclusive mode;
      execute format('with moved as (delete from webhooks.settled_delivery_other
                                     where settled_at >= %L and settled_at < %L returning *)
                      insert into webhooks.settled_delivery_%s select * from moved',
                     week, week + interval '7 days', to_char(week, 'IYYY"w"IW'));
      execute format('alter table webhooks.settled_delivery attach partition webhooks.settled_delivery_%s
                      for values from (%L) to (%L)',
                     to_char(week, 'IYYY"w"IW'), week, week + interval '7 days');
    end if;
    week := week + interval '7 days';
  end loop;
end
$$;

-- Drops one partition, the oldest whose week ended before this instant. Sending waits 150 ms for it at most.
-- Returns its name; null: there is none.
create function webhooks.drop_partition(ended_before timestamptz) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '150ms' as $$
declare
  oldest text;
begin
  select relname into oldest from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'webhooks.settled_delivery'::regclass and relname ~ '^settled_delivery_\d{4}w\d\d$'
    and to_date(substr(relname, 18), 'IYYY"w"IW') + 7 <= ended_before
  order by relname limit 1;
  if oldest is not null then
    execute format('drop table webhooks.settled_delivery_%s', substr(oldest, 18));
  end if;
  return oldest;
end
$$;

do $$
begin
  perform webhooks.add_partitions(
    now() - case when exists (select from webhooks.delivery) then interval '13 weeks' else interval '0' end,
    now() + interval '4 weeks');
end
$$;

-- For the undelivered events of a long history, which is elsewhere now.
drop index webhooks.delivery_unsucceeded;

-- The queue changes all the time and stays small.
alter table webhooks.delivery set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

comment on table webhooks.delivery is 'The queue: deliveries that are not settled';
comment on table webhooks.attempt is 'Attempts of deliveries that are not settled';

-- Down Migration
comment on table webhooks.attempt is null;
comment on table webhooks.delivery is null;
alter table webhooks.delivery reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
create index delivery_unsucceeded on webhooks.delivery (endpoint_id, created_at desc, delivery_id desc)
  where status <> 'succeeded';
insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, error, response_body, endpoint_id)
select delivery_id, attempts, started_at, duration_ms, status_code, error, response_body, endpoint_id
from webhooks.settled_delivery where started_at is not null
union all
select delivery_id, (one ->> 'number')::integer, (one ->> 'startedAt')::timestamptz, (one ->> 'durationMs')::integer,
       (one ->> 'statusCode')::integer, one ->> 'error', null, endpoint_id
from webhooks.settled_delivery cross join jsonb_array_elements(earlier) one
on conflict do nothing;
insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status, attempts,
                               due_at, test, redelivery, replay_id, created_at, settled_at)
select delivery_id, endpoint_id, event.workspace_id, event_id, coalesce(event.reading_id, substr(event_id, 5)::uuid),
       event.sequence, status, attempts, settled_at, test, redelivery, replay_id, created_at, settled_at
from webhooks.settled_delivery join webhooks.public_event event using (event_id)
on conflict do nothing;
drop function webhooks.drop_partition(timestamptz);
drop function webhooks.add_partitions(timestamptz, timestamptz);
drop table webhooks.settled_delivery;
