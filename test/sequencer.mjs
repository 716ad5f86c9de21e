import Sequencer from '@jest/test-sequencer';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

/** Of every slow spec how long it takes, in seconds. `npm run test:durations` writes it. */
const SLOW = JSON.parse(readFileSync(new URL('durations.json', import.meta.url), 'utf8'));
/** Of a spec that is not in the table: it is fast, or new. */
const MEDIUM_S = 10;

/** Specs of the stack that stays for the next spec, but not for long (test/support/companion-stack.ts). */
const sharesStack = (test) => readFileSync(test.path, 'utf8').includes('await sharedStack()');

/**
 * Starts the longest specs first, so that the workers end together. Jest does so with the durations of the machine's
 * last run. A clean checkout has none, where Jest would go by the size of the files. Specs that share a stack run one
 * after the other.
 */
export default class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const sharing = sorted.filter(sharesStack);
    const first = sorted.indexOf(sharing[0]);
    const others = sorted.filter((test) => !sharing.includes(test));
    return others.toSpliced(Math.max(first, 0), 0, ...sharing);
  }

  time(test) {
    const path = relative(test.context.config.rootDir, test.path).replaceAll('\\', '/');
    return super.time(test) ?? 1000 * (SLOW[path] ?? MEDIUM_S);
  }
}
