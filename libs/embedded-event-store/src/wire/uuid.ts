const TEXT = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The canonical lower-case text of a UUID; undefined if `text` is not a UUID. */
export const canonicalUuid = (text: string): string | undefined =>
  TEXT.test(text) ? text.toLowerCase() : undefined;

/** The text of a UUID given as two signed 64-bit halves (the protocol's structured form). */
export const uuidFromHalves = (mostSignificant: bigint, leastSignificant: bigint): string => {
  const hex = [mostSignificant, leastSignificant]
    .map((half) => BigInt.asUintN(64, half).toString(16).padStart(16, '0'))
    .join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** The two signed 64-bit halves of a UUID's text. */
export const uuidHalves = (uuid: string): { mostSignificant: bigint; leastSignificant: bigint } => {
  const hex = uuid.replaceAll('-', '');
  return {
    mostSignificant: BigInt.asIntN(64, BigInt(`0x${hex.slice(0, 16)}`)),
    leastSignificant: BigInt.asIntN(64, BigInt(`0x${hex.slice(16)}`)),
  };
};
