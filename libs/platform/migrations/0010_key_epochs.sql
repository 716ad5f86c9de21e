-- Up Migration
-- Epochs of the key-encryption keys of readings: when each began, and what became of it. The keys themselves are never
-- here: they lie in a folder, in a KMS or in ENCRYPTION_KEYS.
create table platform.key_epoch (
  -- its start (UTC) as 20261116T000000Z; with the provider `environment`, an id of ENCRYPTION_KEYS
  epoch         text primary key,
  provider      text not null,
  -- the epoch's key, sealed by a key that never leaves the KMS
  stored        bytea,
  -- tells two keys of one name apart, and nothing else about them
  fingerprint   bytea,
  started_at    timestamptz not null default now(),
  -- from when on no row is wrapped by it any more
  ends_at       timestamptz not null,
  -- no row was wrapped by it any more
  emptied_at    timestamptz,
  -- when its destruction was announced; it comes KEY_DESTROY_NOTICE_MS later at the earliest
  announced_at  timestamptz,
  destroyed_at  timestamptz
);

-- How far the search for keys without a reading has come.
create table platform.key_sweep (
  single      boolean primary key default true check (single),
  created_at  timestamptz not null,
  subject_id  uuid not null
);

create index subject_key_age on platform.subject_key (created_at, subject_id);

-- Down Migration
drop index platform.subject_key_age;
drop table platform.key_sweep;
drop table platform.key_epoch;
