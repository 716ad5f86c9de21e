-- Up Migration

-- The last fold of each long credit book, so that a process that starts need not read its whole open month (ADR 0037).
-- May be lost at any time.
create table billing.book_snapshot (
  stream    text primary key,
  fold      integer not null,        -- FOLD_VERSION of the program that made it
  body      bytea not null,          -- JSON
  mac       bytea not null,          -- of stream, fold and body: only the service can have made it
  taken_at  timestamptz not null
);

-- Down Migration
drop table billing.book_snapshot;
