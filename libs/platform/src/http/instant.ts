const INSTANT = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;
/** Years that both PostgreSQL and four digits can represent. */
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The canonical form of an RFC 3339 instant: UTC, milliseconds. `null` when the text is not an instant, names a day
 * that does not exist, or lies outside the years 0001 to 9999 in UTC.
 */
export const parseInstant = (text: string): string | null => {
  const [, day] = INSTANT.exec(text) ?? [];
  const at = Date.parse(text);
  if (day === undefined || !(at >= EARLIEST && at <= LATEST)) return null;
  // Date.parse turns 30 February into 2 March.
  const exists = new Date(`${day}T00:00:00.000Z`).toISOString().startsWith(day);
  return exists ? new Date(at).toISOString() : null;
};
