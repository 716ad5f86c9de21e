-- Up Migration
create schema if not exists workspaces;

create table workspaces.workspace (
  workspace_id  text primary key,
  name          text not null,
  opened_at     timestamptz not null,
  paper         text not null default 'by-locale'   -- of its publications
);

create table workspaces.api_key (
  key_id        text primary key,
  workspace_id  text not null,
  hash          text not null,
  label         text,
  mode          text not null default 'live' check (mode in ('live', 'test')),
  scopes        text[] not null default '{}',
  networks      text[] not null default '{}',   -- CIDR ranges that the key works from; none: everywhere
  issued_at     timestamptz not null,
  expires_at    timestamptz,
  revoked_at    timestamptz
);
-- Pages of a workspace's keys of one mode, newest first.
create index api_key_page on workspaces.api_key (workspace_id, mode, issued_at desc, key_id desc);
-- For the look at keys that expire soon.
create index api_key_expiry on workspaces.api_key (expires_at) where revoked_at is null and expires_at is not null;

-- When a key was last used, to the hour. API processes write it in batches, without an event.
create table workspaces.api_key_use (
  key_id   text primary key,
  used_at  timestamptz not null
);

-- Sessions of the workspace portal. Before it begins, a row is a link that works once; only hashes of its secrets are here.
create table workspaces.portal_session (
  session_id       uuid primary key,
  workspace_id     text not null,
  -- The API key that opened it, which ends it when it is revoked; null: the operator did.
  key_id           text,
  opened_by        text not null,
  scopes           text[] not null,
  modes            text[] not null,
  mode             text not null check (mode in ('live', 'test')),
  language         text not null,
  time_zone        text not null,
  return_url       text,
  ttl_seconds      integer not null,
  created_at       timestamptz not null,
  link_sha256      bytea,
  link_expires_at  timestamptz not null,
  secret_sha256    bytea,
  started_at       timestamptz,
  -- Until it begins: when the link expires.
  expires_at       timestamptz not null,
  ended_at         timestamptz
);
create unique index portal_session_link on workspaces.portal_session (link_sha256) where link_sha256 is not null;
create unique index portal_session_secret on workspaces.portal_session (secret_sha256) where secret_sha256 is not null;
create index portal_session_page on workspaces.portal_session (workspace_id, created_at desc, session_id desc);
-- For callers who know only of those that see live, or only of the others.
create index portal_session_page_of_mode on workspaces.portal_session
  (workspace_id, (case when 'live' = any (modes) then 'live' else 'test' end), created_at desc, session_id desc);
create index portal_session_expiry on workspaces.portal_session (expires_at);

-- Down Migration
drop schema workspaces cascade;
