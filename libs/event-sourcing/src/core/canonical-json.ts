/**
 * Canonical JSON after RFC 8785: members sorted by UTF-16 code units, no white space, `undefined` members left out.
 * Numbers must be finite. Throws TypeError for bigint, dates, maps, bytes and other values that two writers could
 * serialize differently.
 */
export const canonicalJson = (value: unknown): string => {
  switch (typeof value) {
    case 'string':
      return quoted(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value))
        throw new TypeError('Canonical JSON has no form for a number that is not finite');
      return JSON.stringify(value);
    case 'object':
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
      if (!('toJSON' in value) && !(Symbol.iterator in value))
        return members(value as Record<string, unknown>);
      break;
    default:
  }
  throw new TypeError(`Canonical JSON has no form for a ${typeof value}`);
};

/** A plain loop for speed: every event of a ledger passes here, both when written and when verified. */
const members = (value: Readonly<Record<string, unknown>>): string => {
  let text = '';
  const names = Object.keys(value);
  // Most objects are already sorted, and checking costs less than sorting.
  if (names.some((name, index) => index > 0 && names[index - 1]! > name)) names.sort();
  for (const name of names) {
    const member = value[name];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
};

/** Printable ASCII without quotation mark and backslash: needs no escape in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
