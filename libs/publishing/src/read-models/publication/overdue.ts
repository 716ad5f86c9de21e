/** Completed readings whose publication is overdue, the longest overdue first. */
export const OVERDUE_PUBLICATIONS = `
  select reading_id, workspace_id, correlation_id from publishing.publication
  where due_at < now() order by due_at limit $1`;
