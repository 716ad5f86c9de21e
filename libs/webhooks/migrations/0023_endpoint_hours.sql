-- Up Migration

-- Attempts of an endpoint by hour and outcome, as sums that the record of each attempt adds to. The history can be deleted
-- before them.
create table webhooks.endpoint_hour (
  endpoint_id  text not null,
  hour         timestamptz not null,            -- its beginning, UTC
  outcome      text not null,                   -- succeeded, or the class of failure
  attempts     integer not null,
  latencies    integer[] not null,              -- attempts by duration (domain/delivery/latency.ts)
  primary key (endpoint_id, hour, outcome)
) with (fillfactor = 50);
create index endpoint_hour_age on webhooks.endpoint_hour (hour);

-- Down Migration
drop table webhooks.endpoint_hour;
