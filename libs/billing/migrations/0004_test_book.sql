-- Up Migration

-- Projected from the test books. Nothing that reads the live tables reads these, and the reverse.
create table billing.test_balance (
  workspace_id  text primary key,
  available     bigint not null check (available >= 0),
  held          bigint not null check (held >= 0),
  consumed      bigint not null,
  filled        bigint not null,
  revision      numeric(20, 0) not null,   -- of the last event applied
  updated_at    timestamptz not null,
  check (filled = available + held + consumed)
);

-- Open reservations of test readings. `confirmed` as in billing.hold.
create table billing.test_hold (
  workspace_id    text not null,
  reservation_id  text not null,
  reading_id      text not null,
  amount          bigint not null,
  reserved_at     timestamptz not null,
  confirmed       boolean not null default false,
  primary key (workspace_id, reservation_id)
);
create index test_hold_unconfirmed on billing.test_hold (reserved_at, workspace_id, reservation_id) where not confirmed;

-- Down Migration
drop table billing.test_hold;
drop table billing.test_balance;
