/** Words that belong to the word after them. */
const PARTICLES = new Set(
  'af al am an auf aus av ben bin d da das de dei del della den der des di do dos du e el ibn la las le les lo los mac mc o of saint sainte san santa st st. ste ste. ten ter und van vom von y za zu zum zur'.split(
    ' ',
  ),
);

/** What belongs to the word before it. */
const SUFFIX = /^(?:[js]r\.?|i{2,3}|iv|v)$/i;

/** The parts of a name that a line never breaks: `Anne`, `de La Tour`, `Smith Jr.` */
export const nameOnCover = (name: string): string[] => {
  const parts: string[] = [];
  let joins = false;
  for (const word of name.split(' ')) {
    if (parts.length > 0 && (joins || SUFFIX.test(word))) parts[parts.length - 1] += `\u00A0${word}`;
    else parts.push(word);
    joins = PARTICLES.has(word.toLowerCase());
  }
  return parts;
};
