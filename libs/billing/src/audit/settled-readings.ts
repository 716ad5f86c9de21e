/** Grows when more of its places are taken. */
const MOST_TAKEN = 0.6;

/**
 * Readings that are completed and captured as they should be, by a fingerprint of 64 bits: 13 to 27 bytes each, whatever
 * their ids. It may say that it has a reading which it has not, about once in 10^19 / readings: callers look again.
 */
export class SettledReadings {
  /** Two words each; both 0: the place is free. */
  private table = new Uint32Array(2 * 1_024);
  private taken = 0;

  add(readingId: string): void {
    if (this.taken + 1 > MOST_TAKEN * (this.table.length / 2)) this.grow();
    const [high, low] = fingerprint(readingId);
    if (put(this.table, high, low)) this.taken += 1;
  }

  has(readingId: string): boolean {
    const [high, low] = fingerprint(readingId);
    const at = placeOf(this.table, high, low);
    return this.table[at] !== 0 || this.table[at + 1] !== 0;
  }

  /** Bytes in use. */
  get bytes(): number {
    return this.table.byteLength;
  }

  private grow(): void {
    const old = this.table;
    this.table = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2)
      if (old[at] !== 0 || old[at + 1] !== 0) put(this.table, old[at]!, old[at + 1]!);
  }
}

/** The place of a fingerprint, or the free one where it belongs. The size is a power of two. */
const placeOf = (table: Uint32Array, high: number, low: number): number => {
  const mask = table.length - 1;
  let at = (low * 2) & mask;
  while ((table[at] !== high || table[at + 1] !== low) && (table[at] !== 0 || table[at + 1] !== 0))
    at = (at + 2) & mask;
  return at;
};

/** @returns whether it is new */
const put = (table: Uint32Array, high: number, low: number): boolean => {
  const at = placeOf(table, high, low);
  const isNew = table[at] === 0 && table[at + 1] === 0;
  table[at] = high;
  table[at + 1] = low;
  return isNew;
};

/** Two hashes of 32 bits (cyrb53). Never both 0. */
const fingerprint = (text: string): readonly [high: number, low: number] => {
  let high = 0xde_ad_be_ef;
  let low = 0x41_c6_ce_57;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return [high >>> 0 || 1, low >>> 0];
};
