/** A birth name, split by the caller. */
export interface StructuredName {
  readonly firstNames: readonly string[];
  readonly middleNames: readonly string[];
  readonly lastNames: readonly string[];
}

/** The caller's elements joined by single spaces, neither trimmed nor folded. */
export const displayName = (name: StructuredName): string => elementsOf(name).join(' ');

/** The name as printed in a document: the caller's spelling without surplus spaces. */
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
