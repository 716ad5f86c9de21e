import { chain } from '../arithmetic/reduce.js';
import type { Letter, NameGroup, Word } from '../name/words.js';
import { groupSum } from '../numbers/name-numbers.js';

/** The letters in force at an age, `A`–`Z`. */
export interface Transits {
  readonly physical: string;
  readonly mental: string;
  readonly spiritual: string;
}

export interface Essence {
  /** 1–9, 11, 22 */
  readonly value: number;
  readonly chain: readonly number[];
}

/**
 * Transit letters and Essence at an age in completed years. First names give the physical letter, middle names the
 * mental one, last names the spiritual one. The names of a group are joined; each letter lasts its value in years, and
 * the group repeats. Without a middle name, the last names also give the mental letter. Essence = red(sum of the
 * three). Example (Decoz): Thomas Cruise Mapother at 20 has A, I, H.
 */
export function transitsAt(words: readonly Word[], age: number): { transits: Transits; essence: Essence } {
  const physical = letterAt(words, 'first', age);
  const spiritual = letterAt(words, 'last', age);
  const hasMiddle = words.some(({ group }) => group === 'middle');
  const mental = hasMiddle ? letterAt(words, 'middle', age) : spiritual;
  const visited = chain(physical.value + mental.value + spiritual.value);
  return {
    transits: { physical: physical.letter, mental: mental.letter, spiritual: spiritual.letter },
    essence: { value: visited[visited.length - 1] ?? 0, chain: visited },
  };
}

function letterAt(words: readonly Word[], group: NameGroup, age: number): Letter {
  let left = age % groupSum(words, group);
  for (const word of words) {
    if (word.group !== group) continue;
    for (const letter of word.spelling) {
      if (left < letter.value) return letter;
      left -= letter.value;
    }
  }
  throw new RangeError('first and last names need at least one letter');
}
