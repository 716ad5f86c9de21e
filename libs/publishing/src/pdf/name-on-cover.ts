/** Words that belong to the word after them. */
const PARTICLES = new Set(
  'af al am an auf aus av ben bin d da das de dei del della den der des di do dos du e el ibn la las le les lo los mac mc o of saint sainte san santa st st. ste ste. ten ter und van vom von y za zu zum zur'.split(
    ' ',
  ),
);

/** What belongs to the word before it. */
const SUFFIX = /^(?:[js]r\.?|i{2,3}|iv|v)$/i;

const isParticle = (word: string): boolean => PARTICLES.has(word.toLowerCase());

/** The parts of a name that a line never breaks: `Anne`, `de La Tour`, `Smith Jr.` */
export const nameOnCover = (name: string): string[] => {
  const parts: string[] = [];
  let joins = false;
  for (const word of name.split(' ')) {
    if (parts.length > 0 && (joins || SUFFIX.test(word))) parts[parts.length - 1] += `\u00A0${word}`;
    else parts.push(word);
    joins = isParticle(word);
  }
  return parts;
};

/**
 * How many of these words, letters only, belong to each part of each name: a line breaks between names before it breaks
 * between parts. From the first particle on, all is one name: `DE LA TOUR`, `DU PIN`.
 */
export const namesOfWords = (words: readonly string[]): number[][] => {
  const parts = nameOnCover(words.join(' ')).map((part) => part.split('\u00A0').length);
  const starts = parts.map((_, index) => parts.slice(0, index).reduce((sum, count) => sum + count, 0));
  const family = parts.findIndex(
    (count, index) => index > 0 && count > 1 && isParticle(words[starts[index]!]!),
  );
  if (family < 0) return parts.map((count) => [count]);
  return [...parts.slice(0, family).map((count) => [count]), parts.slice(family)];
};
