-- Up Migration
create schema if not exists billing;

-- Projected from the live and the test books. The checks are the ledger's own invariants: a row that breaks one halts the
-- view.
create table billing.balance (
  workspace_id  text not null,
  mode          text not null check (mode in ('live', 'test')),
  available     bigint not null default 0 check (available >= 0),
  held          bigint not null default 0 check (held >= 0),
  consumed      bigint not null default 0,
  expired       bigint not null default 0,
  granted       bigint not null default 0,
  adjusted      bigint not null default 0,
  revision      numeric(20, 0) not null,   -- of the last event applied
  due_at        timestamptz not null,      -- next expiry, monthly grant or end of month; a nudge, not a deadline
  agenda        jsonb not null,            -- what due_at is computed from: the open month, the subscription, grants that expire
  -- Available and held after the last grant, and which grant that was: whether few credits are left is judged by it.
  topped_up_to  bigint,
  topped_up_by  text,
  updated_at    timestamptz not null,
  primary key (workspace_id, mode),
  check (granted + adjusted = available + held + consumed + expired)
);
create index balance_due on billing.balance (due_at) where mode = 'live';

-- Open reservations. `confirmed` once a reading names it; until then the sweep asks about it when it is old.
create table billing.hold (
  workspace_id    text not null,
  mode            text not null check (mode in ('live', 'test')),
  reservation_id  text not null,
  reading_id      text not null,
  amount          bigint not null,
  reserved_at     timestamptz not null,
  confirmed       boolean not null default false,
  primary key (workspace_id, mode, reservation_id)
);
create index hold_unconfirmed on billing.hold (reserved_at, workspace_id, mode, reservation_id)
  where not confirmed;

-- The last scheduled reconciliation, for monitoring. A worker locks the row, so that only one runs it.
create table billing.reconciliation (
  only_row     boolean primary key default true check (only_row),
  started_at   timestamptz not null,
  finished_at  timestamptz,          -- null while it runs, or when its worker died
  books        bigint,
  captures     bigint,
  completed    bigint,
  differences  bigint,               -- the gauge to alert on: anything but 0
  pending      bigint
);

-- Down Migration
drop schema billing cascade;
