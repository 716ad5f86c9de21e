import { readFileSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

const isShared = ({ path }) =>
  /\/test\/(e2e|security)\//.test(path) && readFileSync(path, 'utf8').includes('sharedStack');

/**
 * Jest's order, with the specs of the shared stack at its end: each worker of the test runner starts the stack once for
 * all of them. Between others it would stop, and start again.
 */
export default class SharedStackLast extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter((one) => !isShared(one)), ...sorted.filter(isShared)];
  }
}
