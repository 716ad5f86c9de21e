/** A birth name as the caller cuts it. */
export interface StructuredName {
  readonly firstNames: readonly string[];
  readonly middleNames: readonly string[];
  readonly lastNames: readonly string[];
}

/** The caller's own elements joined by single spaces, nothing trimmed or folded: the echo is exact. */
export const displayName = (name: StructuredName): string => elementsOf(name).join(' ');

/** The name as a document prints it: the caller's spelling, with surplus spaces removed. */
export const printedName = (name: StructuredName): string =>
  displayName(name)
    .split(/\p{Zs}+/u)
    .filter(Boolean)
    .join(' ');

const elementsOf = (name: StructuredName): string[] => [
  ...name.firstNames,
  ...name.middleNames,
  ...name.lastNames,
];
