-- Up Migration
create schema if not exists webhooks;

-- Signing secrets, sealed by the key ring. Written before the event that names them; deleted with their endpoint.
create table webhooks.secret (
  secret_ref    uuid primary key,
  endpoint_id   text not null,
  workspace_id  text not null,
  sealed        bytea not null,
  hint          text not null,             -- last four characters of the secret
  created_at    timestamptz not null
);
create index secret_endpoint on webhooks.secret (endpoint_id);
create index secret_workspace on webhooks.secret (workspace_id, created_at);

-- Custom headers of endpoints, sealed by the key ring. Written before the event that names them; deleted with their
-- endpoint, and once other headers have replaced them.
create table webhooks.endpoint_headers (
  headers_ref   uuid primary key,
  endpoint_id   text not null,
  workspace_id  text not null,
  sealed        bytea not null,            -- values by name
  names         text[] not null,           -- in lower case, sorted
  created_at    timestamptz not null
);
create index endpoint_headers_of on webhooks.endpoint_headers (endpoint_id);

-- Projected from webhookEndpoint streams.
create table webhooks.endpoint (
  endpoint_id      text primary key,
  workspace_id     text not null,
  url              text not null,
  events           text[] not null,
  notices          text[] not null default '{}',
  modes            text[] not null default '{live}',   -- of the readings whose events it receives
  description      text,
  headers_ref      uuid,
  max_per_second   integer,
  verified         boolean not null default true,
  enabled          boolean not null default true,
  disabled_reason  text,
  disabled_at      timestamptz,
  secrets          jsonb not null,         -- newest first: [{"ref": uuid, "validUntil": RFC 3339 or null}]
  revision         bigint not null,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  deleted_at       timestamptz
);
create index endpoint_of_workspace on webhooks.endpoint (workspace_id, created_at desc, endpoint_id desc)
  where deleted_at is null;
-- For the looks at what is to be told: few endpoints are disabled by the service.
create index endpoint_disabled on webhooks.endpoint (disabled_at)
  where disabled_reason in ('gone', 'failing') and deleted_at is null;

-- What the webhook bodies of a workspace show, and when it is told of few credits. No row: the defaults.
create table webhooks.content (
  workspace_id         text primary key,
  external_id          boolean not null,
  -- when fewer credits are left than this share of what it had after its last grant; 0: never
  low_credits_percent  smallint not null default 10
);

-- Written by the dispatcher. No row: no failure.
create table webhooks.endpoint_health (
  endpoint_id           text primary key,
  consecutive_failures  integer not null default 0,
  failing_since         timestamptz,
  probe_at              timestamptz        -- while it keeps failing: nothing is sent before
);

-- The probes of endpoints that are not verified.
create table webhooks.verification (
  endpoint_id  text primary key,
  url          text not null,              -- where the probes go: with another URL they start again
  host         text not null,              -- of the URL, as the WHATWG parser reads it
  asked_at     timestamptz not null,
  attempts     integer not null default 0,
  due_at       timestamptz not null,       -- the next probe; while one is under way, the end of its lease
  last_error   text                        -- class of failure of the last probe
);
create index verification_due on webhooks.verification (due_at);

-- Hosts that a workspace had probed lately: no probe before their rest is over, whichever endpoint asks, and although an
-- endpoint was deleted or got another URL.
create table webhooks.probe_rest (
  workspace_id  text not null,
  host          text not null,
  rests_until   timestamptz not null,
  primary key (workspace_id, host)
);

-- The events for receivers, one row per fact, and the notices and trials that were sent. The body has the exact signed bytes.
create table webhooks.public_event (
  event_id           text primary key,     -- evt_ and a UUID
  workspace_id       text not null,
  livemode           boolean not null default true,
  reading_id         uuid,                 -- null: a notice
  type               text not null,
  sequence           integer not null,     -- gap-free per reading, from 1; of notices and trials 0
  position           numeric(20, 0),       -- of the fact in the log: the order of the feed and of replays; null: no fact
  body               text not null,
  -- Whether the body shows the external id of its reading. It is not stored: whoever sends the body opens the reading's
  -- sealed input for it, so it ends with the reading's key.
  shows_external_id  boolean not null default false,
  occurred_at        timestamptz not null,
  traceparent        text,                 -- W3C trace context, while tracing is on: attempts continue the trace
  correlation_id     text                  -- id of the request that the fact follows from, for the log
);
-- Trials name a real reading, any number of them. Only facts are numbered.
create unique index public_event_sequence on webhooks.public_event
  (reading_id, sequence, (case when position is null then event_id else '' end));
create unique index public_event_position on webhooks.public_event (workspace_id, position) where position is not null;
-- The feed, by mode and type: no row is read that is not shown.
create index public_event_feed on webhooks.public_event (workspace_id, livemode, type, position);
-- For retention, the oldest first.
create index public_event_age on webhooks.public_event (livemode, occurred_at) where reading_id is not null;

-- Failures of readings whose credits are still held: the whole event except its position, which is that of the release.
create table webhooks.unreleased_failure (
  cause_event_id  text primary key,        -- ReadingFailed, which the release names
  event_id        text not null,
  workspace_id    text not null,
  livemode        boolean not null,
  reading_id      uuid not null,
  type            text not null,
  occurred_at     timestamptz not null,
  head            text not null,           -- the body up to its sequence number, and what follows
  tail            text not null,
  traceparent     text,
  correlation_id  text
);

-- Notices as they were told: the feed of notices, and the memory that keeps each from being told again. Writers hold an
-- advisory lock (processes/insert-deliveries.ts), so positions become visible in their order.
create table webhooks.notice (
  position      bigint generated always as identity primary key,
  event_id      text not null unique,      -- evt_ and a UUID, as in webhooks.public_event
  workspace_id  text not null,
  type          text not null,
  subject       text not null,             -- what it is about: the id of an endpoint, a key, a grant, a replay or a batch
  occurrence    text not null,             -- which time: the same one is told once
  livemode      boolean not null,
  occurred_at   timestamptz not null,
  body          text not null              -- the exact signed bytes
);
create index notice_feed on webhooks.notice (workspace_id, livemode, type, position);
create index notice_memory on webhooks.notice (workspace_id, type, subject, occurred_at desc);
create index notice_age on webhooks.notice (livemode, occurred_at);

-- What retention has deleted of the feed of each workspace, by mode and type, of events and of notices. A cursor or a
-- replay that reaches behind it gets 410, and the fan-out makes none of it again.
create table webhooks.deleted_past (
  workspace_id  text not null,
  livemode      boolean not null,
  type          text not null,
  position      numeric(20, 0) not null,   -- the highest deleted one, in its feed
  until         timestamptz not null,      -- everything that happened before has been deleted
  primary key (workspace_id, livemode, type)
);

-- The number of the last public event of a reading whose events have been deleted, so that later ones continue from it.
create table webhooks.last_sequence (
  reading_id  uuid primary key,
  sequence    integer not null
);

-- The order in which deliveries were added: separates those before their endpoint was disabled from later ones.
create sequence webhooks.delivery_added;

-- The queue: deliveries that are not settled. It changes all the time and stays small.
create table webhooks.delivery (
  delivery_id   uuid primary key,
  endpoint_id   text not null,
  workspace_id  text not null,
  event_id      text not null,
  reading_id    uuid not null,             -- deliveries with the same one go in order: a reading, or an id of a notice or trial
  sequence      integer not null,
  status        text not null check (status in ('pending', 'succeeded', 'exhausted', 'skipped')),
  attempts      integer not null default 0,
  due_at        timestamptz not null,      -- next attempt
  test          boolean not null default false,
  redelivery    boolean not null default false,
  replay_id     uuid,
  added         bigint not null default nextval('webhooks.delivery_added'),
  created_at    timestamptz not null,
  settled_at    timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- For the selection of deliveries: per endpoint the earliest due, new events before replayed ones; per endpoint and
-- reading the earliest unsettled.
create index delivery_due on webhooks.delivery (endpoint_id, due_at) where status = 'pending' and replay_id is null;
create index delivery_replay_due on webhooks.delivery (endpoint_id, due_at)
  where status = 'pending' and replay_id is not null;
create index delivery_order on webhooks.delivery (endpoint_id, reading_id, sequence) where status = 'pending';
create index delivery_history on webhooks.delivery (endpoint_id, created_at desc, delivery_id desc);
create index delivery_of_event on webhooks.delivery (endpoint_id, event_id);
create index delivery_of_replay on webhooks.delivery (replay_id, status) where replay_id is not null;
-- For counting the pending test events.
create index delivery_trial on webhooks.delivery (endpoint_id) where status = 'pending' and test;

-- Attempts of deliveries that are not settled.
create table webhooks.attempt (
  delivery_id  uuid not null,
  endpoint_id  text not null,
  number       integer not null,
  started_at   timestamptz not null,
  duration_ms  integer not null,
  status_code  integer,                    -- of the receiver's answer, when there was one
  error        text,                       -- class of failure; null: succeeded
  -- What a receiver answered to an attempt that failed, sealed with the key of the reading: erasing the reading makes it
  -- unreadable in every copy.
  answer       bytea,
  primary key (delivery_id, number)
);
create index attempt_of_endpoint on webhooks.attempt (endpoint_id, started_at desc);

-- Settled deliveries, each appended once with its attempts, in a partition for each week (docs/adr/0031).
create table webhooks.settled_delivery (
  delivery_id  uuid not null,
  endpoint_id  text not null,
  event_id     text not null,
  status       text not null check (status in ('succeeded', 'exhausted', 'skipped')),
  attempts     integer not null,
  test         boolean not null,
  redelivery   boolean not null,
  replay_id    uuid,
  created_at   timestamptz not null,
  settled_at   timestamptz not null,
  started_at   timestamptz,                -- of the last attempt, as what follows. Null: there was none
  duration_ms  integer,
  status_code  integer,
  error        text,
  answer       bytea,                      -- as in webhooks.attempt
  earlier      jsonb                       -- attempts before it, oldest first: [{number, startedAt, durationMs, statusCode, error}]
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
-- has of those weeks. The application calls it: its role may create no table. Sending waits 150 ms for it at most, and
-- another process that changes partitions fails after as long (SQLSTATE 55P03).
create function webhooks.add_partitions(since timestamptz, until timestamptz) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set timezone = 'UTC' set lock_timeout = '150ms' as $$
declare
  week timestamptz := date_trunc('week', since);
  partition text;
begin
  perform pg_advisory_xact_lock(hashtextextended('webhooks.settled_delivery', 0));
  while week <= until loop
    partition := 'settled_delivery_' || to_char(week, 'IYYY"w"IW');
    if not exists (
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
  perform pg_advisory_xact_lock(hashtextextended('webhooks.settled_delivery', 0));
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

do $$ begin perform webhooks.add_partitions(now(), now() + interval '4 weeks'); end $$;

-- Name-based UUID of a delivery that starts with the time of what it delivers, like version 7 of RFC 9562 (version 8: the
-- rest is a hash, so the id is the same each time). New rows go to the end of an index by id: with random ids each one
-- changes another page, which the write-ahead log then has to contain whole. One expression that has each parameter once,
-- so that PostgreSQL puts it into the calling statement.
create function webhooks.delivery_id(endpoint_id text, event_id text, at timestamptz) returns uuid
language sql stable parallel safe
return overlay(overlay(
  encode(substr(int8send((extract(epoch from at) * 1000)::bigint), 3)
         || substr(sha256(convert_to(endpoint_id || '|' || event_id, 'UTF8')), 1, 10), 'hex')
  placing '8' from 13) placing '8' from 17)::uuid;

-- Which worker sends for a workspace: one at a time, so that it keeps order and limits without asking others.
create table webhooks.workspace_lease (
  workspace_id  text primary key,
  lease         uuid,                      -- null: no worker has it
  leased_until  timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- Endpoints that were disabled, deleted or left a mode with more pending deliveries than could be skipped at once. All
-- deliveries of these modes up to this number will be skipped. Until then nothing is sent to the endpoint, and no replay
-- reads its deliveries.
create table webhooks.skipping (
  endpoint_id  text not null,
  up_to        bigint not null,            -- of webhooks.delivery.added
  modes        text[] not null,
  skipped_at   timestamptz not null,       -- when the endpoint was changed
  served_at    timestamptz not null default '-infinity',  -- its last turn
  primary key (endpoint_id, up_to)
);

-- Requests to send past events to an endpoint. A job works through the log page by page; position and counts move in
-- the transaction that adds the deliveries of a page.
create table webhooks.replay (
  replay_id        uuid primary key,
  endpoint_id      text not null,
  workspace_id     text not null,
  since            timestamptz not null,
  until            timestamptz not null,   -- exclusive
  types            text[] not null,
  modes            text[] not null default '{live}',
  statuses         text[] not null,        -- of an event at this endpoint; 'missing': it has no delivery
  dry_run          boolean not null,
  state            text not null check (state in ('queued', 'running', 'finished', 'stopped')),
  position         numeric(20, 0),         -- of the last event looked at
  last_position    numeric(20, 0),         -- of the last event there was when it was asked for
  events           integer not null default 0,
  idempotency_key  text,
  created_at       timestamptz not null,
  updated_at       timestamptz not null,
  finished_at      timestamptz,
  unique (endpoint_id, idempotency_key)
);
create index replay_open on webhooks.replay (updated_at) where state in ('queued', 'running');
create index replay_unfinished on webhooks.replay (endpoint_id) where state in ('queued', 'running');
create index replay_ended on webhooks.replay (finished_at);

-- Attempts of an endpoint by hour and outcome, as sums that the record of each attempt adds to. The history can be deleted
-- before them.
create table webhooks.endpoint_hour (
  endpoint_id  text not null,
  hour         timestamptz not null,       -- its start, UTC
  outcome      text not null,              -- succeeded, or the class of failure
  attempts     integer not null,
  latencies    integer[] not null,         -- attempts by duration (read-models/hourly-stats.ts)
  last_at      timestamptz not null,       -- when the last of them started
  primary key (endpoint_id, hour, outcome)
) with (fillfactor = 50);
create index endpoint_hour_age on webhooks.endpoint_hour (hour);

-- Down Migration
drop schema webhooks cascade;
