-- Up Migration

-- One row: which DIGEST_KEY this database is used with. A process with another one would make a second reading of a
-- repeated request.
create table platform.installation (
  only_row     boolean primary key default true check (only_row),
  fingerprint  text not null,           -- crypto/installation.ts; reveals nothing of the key
  noted_at     timestamptz not null default now()
);

-- Down Migration
drop table platform.installation;
