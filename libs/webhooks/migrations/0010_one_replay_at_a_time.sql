-- Up Migration

-- One replay at a time for each endpoint. The first of several waiting ones continues.
update webhooks.replay set state = 'stopped', finished_at = now(), updated_at = now()
where state in ('queued', 'running') and not dry_run
  and exists (
    select from webhooks.replay first
    where first.endpoint_id = replay.endpoint_id and first.state in ('queued', 'running') and not first.dry_run
      and (first.created_at, first.replay_id) < (replay.created_at, replay.replay_id));
create unique index replay_one_at_a_time on webhooks.replay (endpoint_id)
  where state in ('queued', 'running') and not dry_run;

-- Running dry runs, and replays that ended long ago.
create index replay_counting on webhooks.replay (endpoint_id) where state in ('queued', 'running') and dry_run;
create index replay_ended on webhooks.replay (finished_at);

-- For counting the pending test events.
create index delivery_trial on webhooks.delivery (endpoint_id) where status = 'pending' and test;

-- Down Migration
drop index webhooks.delivery_trial;
drop index webhooks.replay_ended;
drop index webhooks.replay_counting;
drop index webhooks.replay_one_at_a_time;
