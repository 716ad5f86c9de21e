-- Up Migration
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
create index portal_session_expiry on workspaces.portal_session (expires_at);

-- Down Migration
drop table workspaces.portal_session;
