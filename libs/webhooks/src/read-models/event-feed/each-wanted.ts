/**
 * SQL: a row `wanted` for each type ($3) and mode ($4: `livemode`) of a feed. An index has the events of each in order, so
 * a page reads as many of each as it shows, and none that it does not ask for.
 */
export const EACH_WANTED =
  '(select * from unnest($3::text[]) as type cross join unnest($4::boolean[]) as livemode) as wanted';
