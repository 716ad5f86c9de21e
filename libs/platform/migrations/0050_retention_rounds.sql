-- Up Migration

-- What retention has done, for each kind of data that ends after a term (ops retention status).
create table platform.retention_round (
  kind        text primary key,
  ran_at      timestamptz not null,     -- the last whole round
  kept_since  timestamptz not null,     -- everything older has been deleted
  removed     bigint not null           -- rows, in all rounds; of dropped partitions about as many
);

-- Down Migration
drop table platform.retention_round;
