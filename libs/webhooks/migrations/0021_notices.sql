-- Up Migration

-- Notices as they were told: the feed of notices, and the memory that keeps each from being told again. Writers hold an
-- advisory lock (processes/notices/insert-notices.ts), so positions become visible in their order.
create table webhooks.notice (
  position      bigint generated always as identity primary key,
  event_id      text not null unique,          -- evt_ and a UUID, as in webhooks.public_event
  workspace_id  text not null,
  type          text not null,
  subject       text not null,                 -- what it is about: the id of an endpoint, a key, a grant, a replay or a batch
  occurrence    text not null,                 -- which time: the same one is told once
  livemode      boolean not null,
  occurred_at   timestamptz not null,
  body          text not null                  -- the exact signed bytes
);
create index notice_feed on webhooks.notice (workspace_id, position);
create index notice_memory on webhooks.notice (workspace_id, type, subject, occurred_at desc);
create index notice_age on webhooks.notice (occurred_at);

-- For the looks at what is to be told: few endpoints are disabled by the service.
create index endpoint_disabled on webhooks.endpoint (disabled_at)
  where disabled_reason in ('gone', 'failing') and deleted_at is null;

-- Tell a workspace when fewer credits are left than this share of what it had after its last grant; 0: never.
--
-- Rolling upgrade: a worker of the previous version leaves the default, and sends the new notices as if they were events.
-- So ask for notices only once all workers run this version.
alter table webhooks.content add column low_credits_percent smallint not null default 10;

-- Down Migration
alter table webhooks.content drop column low_credits_percent;
drop index webhooks.endpoint_disabled;
drop table webhooks.notice;
