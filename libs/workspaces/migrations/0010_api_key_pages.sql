-- Up Migration
-- Pages of a workspace's keys, newest first. Replaces the previous index.
create index api_key_page on workspaces.api_key (workspace_id, issued_at desc, key_id desc);
drop index workspaces.api_key_workspace;

-- When a key was last used, to the hour. API processes write it in batches, without an event.
create table workspaces.api_key_use (
  key_id   text primary key,
  used_at  timestamptz not null
);

-- Down Migration
drop table workspaces.api_key_use;
create index api_key_workspace on workspaces.api_key (workspace_id);
drop index workspaces.api_key_page;
