/**
 * Canonical JSON in the manner of RFC 8785: members sorted by UTF-16 code units, no white space, `undefined` members
 * left out. Numbers must be finite; bigint, dates, maps, bytes and other exotic values are refused, because two writers
 * must agree.
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

/** Every event of a ledger passes here, when it is written and when it is verified: hence the plain loop. */
const members = (value: Readonly<Record<string, unknown>>): string => {
  let text = '';
  const names = Object.keys(value);
  // Much of what passes is sorted already, and to sort it again would cost more than to look.
  if (names.some((name, index) => index > 0 && names[index - 1]! > name)) names.sort();
  for (const name of names) {
    const member = value[name];
    if (member === undefined) continue;
    text += `${text === '' ? '' : ','}${quoted(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
};

/** Printable ASCII without quotation mark and backslash: stands in JSON as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
