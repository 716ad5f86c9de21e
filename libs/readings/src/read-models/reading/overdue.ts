/** Unfinished readings whose lease or waiting time has expired, the longest overdue first. */
export const OVERDUE_READINGS = `
  select reading_id, workspace_id, correlation_id from readings.reading
  where due_at < now() order by due_at limit $1`;
