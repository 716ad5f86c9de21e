-- Up Migration
create schema if not exists workspaces;

create table workspaces.workspace (
  workspace_id  text primary key,
  name          text not null,
  opened_at     timestamptz not null
);

create table workspaces.api_key (
  key_id        text primary key,
  workspace_id  text not null,
  hash          text not null,
  label         text,
  issued_at     timestamptz not null,
  expires_at    timestamptz,
  revoked_at    timestamptz
);
create index api_key_workspace on workspaces.api_key (workspace_id);

-- Down Migration
drop schema workspaces cascade;
