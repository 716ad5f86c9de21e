-- Up Migration

-- The statement that inserts deliveries makes their workspace queues ready itself
-- (libs/webhooks/src/read-models/delivery/delivery-sql.ts). The trigger that did so is no longer needed.
--
-- Rolling upgrade: a process of the previous version inserts deliveries and relies on the trigger. Their queue then stays
-- idle, or has no row. Workers of this version find such queues at their start and every 30 seconds
-- (processes/dispatch/repair-queues.ts), so what old processes insert is sent late but not lost.
--
-- Before you run only processes of the previous version again, apply the down migration: they repair nothing.
drop trigger delivery_opens_lane on webhooks.delivery;
drop function webhooks.open_lanes();

comment on table webhooks.lane is 'The queue of a workspace: when it is ready, and the lease of the worker that claimed it';

-- Down Migration
comment on table webhooks.lane is null;

create function webhooks.open_lanes() returns trigger language plpgsql as $$
begin
  insert into webhooks.lane as lane (workspace_id, ready_at)
  select workspace_id, min(due_at) from added where status = 'pending'
  group by workspace_id order by workspace_id
  on conflict (workspace_id) do update set ready_at = excluded.ready_at where lane.ready_at > excluded.ready_at;
  return null;
end
$$;
create trigger delivery_opens_lane after insert on webhooks.delivery
referencing new table as added for each statement execute function webhooks.open_lanes();
