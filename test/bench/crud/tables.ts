import { createHash } from 'node:crypto';
import type { Pool } from 'pg';

/** The tables of the build without events: state that is updated in place, and a log of credit movements. */
const TABLES = `
  create schema crud;
  create table crud.workspace (
    workspace_id text primary key,
    available integer not null check (available >= 0),
    held integer not null default 0 check (held >= 0),
    consumed integer not null default 0);
  create table crud.api_key (key_hash bytea primary key, workspace_id text not null references crud.workspace);
  create table crud.reading (
    reading_id uuid primary key,
    workspace_id text not null references crud.workspace,
    status text not null default 'queued',
    locale text not null,
    input bytea not null,
    result bytea,
    created_at timestamptz not null default now(),
    published_at timestamptz);
  create index on crud.reading (workspace_id, created_at desc);
  create table crud.artifact (
    reading_id uuid not null references crud.reading,
    format text not null,
    bytes bytea not null,
    primary key (reading_id, format));
  create table crud.movement (
    movement_id bigint generated always as identity primary key,
    workspace_id text not null references crud.workspace,
    reading_id uuid not null,
    kind text not null,
    amount integer not null,
    at timestamptz not null default now())`;

export const WORKSPACE = 'ws_peer';
export const API_KEY = 'peer-key-of-a-benchmark';
export const COST = 20;
export const GENERATE = 'crud.generate';

export const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest();

export const createTables = async (pool: Pool): Promise<void> => {
  await pool.query(TABLES);
  await pool.query('insert into crud.workspace (workspace_id, available) values ($1, 1000000000)', [
    WORKSPACE,
  ]);
  await pool.query('insert into crud.api_key values ($1, $2)', [hashOf(API_KEY), WORKSPACE]);
};
