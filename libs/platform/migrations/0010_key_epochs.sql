-- Up Migration
-- Epochs of the key-encryption keys of readings: when each started and ended. The keys themselves are in a folder, in a
-- KMS or in ENCRYPTION_KEYS, never here.
create table platform.key_epoch (
  -- its start (UTC) as 20261116T000000Z; with the provider `environment`, an id of ENCRYPTION_KEYS
  epoch         text primary key,
  provider      text not null,
  -- the epoch's key, sealed by a key that never leaves the KMS
  stored        bytea,
  -- distinguishes two keys of one name, and reveals nothing else about them
  fingerprint   bytea,
  started_at    timestamptz not null default now(),
  -- since when it wraps no row
  ends_at       timestamptz not null,
  -- when it wrapped no row any more
  emptied_at    timestamptz,
  -- when its destruction was announced, which happens KEY_DESTROY_NOTICE_MS later at the earliest
  announced_at  timestamptz,
  destroyed_at  timestamptz
);

-- The progress of the search for keys without a reading.
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
