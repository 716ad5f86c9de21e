/** A birth name, split by the caller. */
export interface StructuredName {
  readonly firstNames: readonly string[];
  readonly middleNames: readonly string[];
  readonly lastNames: readonly string[];
}

/** First, middle and last names in the caller's spelling, without surplus spaces: as answers and documents show it. */
export const displayName = ({ firstNames, middleNames, lastNames }: StructuredName): string =>
  [...firstNames, ...middleNames, ...lastNames]
    .join(' ')
    .split(/\p{Zs}+/u)
    .filter(Boolean)
    .join(' ');
