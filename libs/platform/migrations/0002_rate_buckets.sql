-- Up Migration
-- Token buckets, shared by every API process. Unlogged: after a crash of the database all buckets are full again.
create unlogged table platform.rate_bucket (
  subject      text not null,
  policy       text not null,
  tokens       double precision not null,
  granted      integer not null,
  refilled_at  timestamptz not null,
  primary key (subject, policy)
);
create index rate_bucket_age on platform.rate_bucket (refilled_at);

-- Down Migration
drop table platform.rate_bucket;
