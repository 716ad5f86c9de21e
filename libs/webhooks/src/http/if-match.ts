/** An endpoint's entity tag: its revision. */
export const etagOf = (revision: bigint): string => `"${revision}"`;

/**
 * Revisions an If-Match header (RFC 9110, 13.1.1) allows; `null` when it allows any. Weak and unknown tags match nothing.
 * The coding that Apache adds to the tag of what it compresses says nothing about the state.
 */
export const readIfMatch = (header: string | undefined): readonly bigint[] | null => {
  if (header === undefined || header.trim() === '*') return null;
  return header
    .split(',')
    .map((tag) => /^"(\d{1,19})(?:-gzip|-br)?"$/.exec(tag.trim())?.[1])
    .filter((revision) => revision !== undefined)
    .map(BigInt);
};
