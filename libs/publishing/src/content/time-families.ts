import { z } from 'zod';
import { message } from './message.js';
import { perNumber, perRoot } from './shapes.js';

/** One entry for each challenge, 0 to 8. */
const perChallenge = <T extends z.ZodType>(entry: T) => perRoot(entry).omit({ 9: true }).extend({ 0: entry });

/** The pinnacles other than the current one, a line each. */
export const pinnacles = z.strictObject({
  title: message(),
  intro: message(),
  first: message('toAge', 'number', 'text'),
  middle: message('fromAge', 'toAge', 'number', 'text'),
  last: message('fromAge', 'number', 'text'),
  again: message(),
  text: perNumber(message()),
});

export const challenges = z.strictObject({
  title: message(),
  intro: message(),
  mainIntro: message('number'),
  main: perChallenge(message()),
  othersIntro: message(),
  first: message('number', 'text'),
  second: message('number', 'text'),
  fourth: message('number', 'text'),
  again: message(),
  minor: perChallenge(message()),
});

export const essence = z.strictObject({
  title: message(),
  intro: message('number'),
  text: perNumber(message()),
});

const tension = message('first', 'second', 'since', 'period');
const byTension = z.strictObject({ friction: tension, near: tension, far: tension });
const passage = message('age', 'from', 'to');

/** The threads of the synthesis: each text cites two numbers and a moment of the life. */
export const threads = z.strictObject({
  tensionTitle: message(),
  tension: z.strictObject({ path: byTension, soul: byTension }),
  tensionNone: tension,
  resourceTitle: message(),
  resource: message('number', 'position', 'since', 'period'),
  lesson: perRoot(message()),
  thresholdTitle: message(),
  threshold: z.strictObject({
    pinnacleComing: passage,
    pinnacleBegun: passage,
    periodComing: passage,
    periodBegun: passage,
    same: passage,
  }),
  rareTitle: message(),
  rare: z.strictObject({
    33: message('since', 'period'),
    'five-lessons': message('dominant', 'since', 'period'),
    'no-vowel': message('dominant', 'since', 'period'),
    'all-nine': message('dominant', 'since', 'period'),
  }),
  sinceBirth: message(),
  sinceAge: message('fromAge'),
});
