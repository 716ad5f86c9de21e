-- Up Migration

-- The last turn that a workspace was given among the jobs of a kind and priority: virtual time (jobs/job.ts).
create table platform.job_turn (
  task         text not null,
  priority     smallint not null,
  workspace_id text not null,
  is_bulk      boolean not null,
  last_at      timestamptz not null,
  primary key (task, priority, workspace_id, is_bulk)
);

-- Down Migration
drop table platform.job_turn;
