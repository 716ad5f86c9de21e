/** RFC 3339, 5.6: T and Z in either case, any number of digits of a second, and a leap second. */
const INSTANT =
  /^(\d{4}-\d{2}-\d{2})T((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d|60)(?:\.(\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;
/** Years that both PostgreSQL and four digits can represent. */
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The canonical form of an RFC 3339 instant: UTC, milliseconds; a leap second is the second after it, as in POSIX. `null`
 * when the text is not an instant, names a day or a leap second that cannot exist, or lies outside the years 0001 to 9999
 * in UTC.
 */
export const parseInstant = (text: string): string | null => {
  const [, day, minute, second, fraction = '', zone] = INSTANT.exec(text) ?? [];
  if (day === undefined || zone === undefined) return null;
  // Date.parse turns 30 February into 2 March.
  if (!new Date(Date.parse(day)).toJSON()?.startsWith(day)) return null;
  const begun = Date.parse(`${day}T${minute}:00.000${zone.toUpperCase()}`);
  const at = begun + Number(second) * 1_000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
  if (!(at >= EARLIEST && at <= LATEST)) return null;
  // Leap seconds end a day of UTC.
  if (second === '60' && !new Date(begun).toISOString().includes('T23:59:')) return null;
  return new Date(at).toISOString();
};
