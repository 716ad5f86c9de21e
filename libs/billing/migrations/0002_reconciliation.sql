-- Up Migration

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
drop table billing.reconciliation;
