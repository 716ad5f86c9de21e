/** How a line of an export differs from the line that the service writes. */

/** `text` when the line has a byte order mark or ends with CR; these are not part of its JSON. */
export const textFault = (line: string): 'text' | null =>
  line.startsWith('\uFEFF') || line.endsWith('\r') ? 'text' : null;

/** The member, as a path with dots, in which two lines of JSON differ: by value, or else by how it is written. */
export const firstDifference = (given: string, written: string): string =>
  differing(JSON.parse(given), JSON.parse(written)) ?? memberAround(given, written);

type Members = Readonly<Record<string, unknown>>;
const isMembers = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const differing = (given: unknown, written: unknown): string | null => {
  if (!isMembers(given) || !isMembers(written)) return null;
  const names = [...Object.keys(written), ...Object.keys(given)];
  for (const name of names) {
    const [one, other] = [given[name], written[name]];
    if (name in given && name in written && JSON.stringify(one) === JSON.stringify(other)) continue;
    const inner = name in given && name in written ? differing(one, other) : null;
    return inner === null ? name : `${name}.${inner}`;
  }
  return null;
};

/** The name of the member where two texts of equal value part. */
const memberAround = (given: string, written: string): string => {
  let at = 0;
  while (given[at] === written[at] && at < given.length) at += 1;
  const names = [...given.matchAll(/"((?:[^"\\]|\\.)*)":/g)].filter(({ index }) => index <= at + 1);
  return names.at(-1)?.[1] ?? 'text';
};
