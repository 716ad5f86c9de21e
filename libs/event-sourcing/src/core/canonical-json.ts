/**
 * Canonical JSON in the manner of RFC 8785: members sorted by UTF-16 code units, no white space, `undefined` members
 * left out. Numbers must be finite; bigint, dates, maps, bytes and other exotic values are refused, because two writers
 * must agree.
 */
export const canonicalJson = (value: unknown): string => {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'number') {
    if (!Number.isFinite(value))
      throw new TypeError('Canonical JSON has no form for a number that is not finite');
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && !('toJSON' in value) && !(Symbol.iterator in value)) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
    return `{${members.join(',')}}`;
  }
  throw new TypeError(`Canonical JSON has no form for a ${typeof value}`);
};
