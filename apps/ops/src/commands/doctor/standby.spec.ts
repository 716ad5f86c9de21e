import { expect, it } from '@jest/globals';
import { findingOf, type Replication, type Standby } from './standby.js';

const standby = (syncState: string | null): Standby =>
  syncState === null
    ? { name: null, state: null, syncState, behind: null }
    : { name: 'second', state: 'streaming', syncState, behind: '56 bytes' };
const replication = (...states: readonly (string | null)[]): Replication => ({
  standbys: states.map(standby),
  synchronousNames: '',
  synchronousCommit: 'on',
});

it.each<[string, Replication, 'ok' | 'warning' | 'failure', RegExp]>([
  ['no standby', replication(), 'ok', /^none is attached/],
  [
    'a synchronous standby that is away',
    { ...replication(), synchronousNames: '*' },
    'failure',
    /^commits wait/,
  ],
  [
    'a synchronous standby',
    replication('sync'),
    'ok',
    /^second is synchronous .* loses no acknowledged commit$/,
  ],
  [
    'one of a quorum',
    replication('quorum', 'async'),
    'ok',
    /^second is synchronous .*, second is asynchronous/,
  ],
  ['an asynchronous standby', replication('async'), 'warning', /56 bytes behind: a promotion loses the last/],
  [
    'a synchronous standby that no commit waits for',
    { ...replication('sync'), synchronousCommit: 'local' },
    'warning',
    /synchronous_commit is local/,
  ],
  ['a standby that the role may not see', replication(null), 'warning', /hidden from this role/],
])('doctor describes %s', (_, given, level, message) => {
  expect(findingOf(given)).toMatchObject({
    check: 'standby',
    level,
    message: expect.stringMatching(message),
  });
});
