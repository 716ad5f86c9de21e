-- Up Migration
create schema if not exists billing;

-- Projected from the credits streams. The checks are the ledger's own invariants: a row that breaks one halts the view.
create table billing.balance (
  workspace_id  text primary key,
  available     bigint not null default 0 check (available >= 0),
  held          bigint not null default 0 check (held >= 0),
  consumed      bigint not null default 0,
  expired       bigint not null default 0,
  granted       bigint not null default 0,
  adjusted      bigint not null default 0,
  revision      numeric(20, 0) not null,   -- of the last event applied
  due_at        timestamptz not null,      -- next expiry, monthly grant or end of month; a nudge, not a deadline
  updated_at    timestamptz not null,
  check (granted + adjusted = available + held + consumed + expired)
);
create index balance_due on billing.balance (due_at);

-- Open reservations. `confirmed` once a reading names it; until then the sweep asks about it when it is old.
create table billing.hold (
  workspace_id    text not null,
  reservation_id  text not null,
  reading_id      text not null,
  amount          bigint not null,
  reserved_at     timestamptz not null,
  confirmed       boolean not null default false,
  primary key (workspace_id, reservation_id)
);
create index hold_unconfirmed on billing.hold (reserved_at, workspace_id, reservation_id) where not confirmed;

-- Down Migration
drop schema billing cascade;
