-- Up Migration

-- The order in which deliveries were added: what was there when its endpoint was disabled, and what came later. Null:
-- added before this column was.
create sequence webhooks.delivery_added;
alter table webhooks.delivery add column added bigint;
alter table webhooks.delivery alter column added set default nextval('webhooks.delivery_added');

-- Endpoints that were disabled or deleted with more pending than could be skipped at once: all that was added up to
-- there is to be. Nothing is sent to such an endpoint meanwhile, and no replay looks at it.
create table webhooks.skipping (
  endpoint_id  text not null,
  up_to        bigint not null,                -- of webhooks.delivery.added
  skipped_at   timestamptz not null,           -- when the endpoint was disabled
  primary key (endpoint_id, up_to)
);

-- What has not arrived is asked for after an outage, when most of a long history has.
create index delivery_unsucceeded on webhooks.delivery (endpoint_id, created_at desc, delivery_id desc)
  where status <> 'succeeded';

-- Down Migration
drop index webhooks.delivery_unsucceeded;
drop table webhooks.skipping;
alter table webhooks.delivery drop column added;
drop sequence webhooks.delivery_added;
