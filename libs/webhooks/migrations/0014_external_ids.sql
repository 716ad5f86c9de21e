-- Up Migration
-- Workspaces that have chosen what their webhook bodies show. No row: everything.
create table webhooks.content (
  workspace_id  text primary key,
  external_id   boolean not null
);

-- Whether the body of the event shows the external id of its reading. It is not stored: whoever sends the body opens the
-- reading's sealed input for it, so it ends with the reading's key.
alter table webhooks.public_event add column shows_external_id boolean not null default false;

-- Down Migration
alter table webhooks.public_event drop column shows_external_id;
drop table webhooks.content;
