import { describe, expect, it } from '@jest/globals';
import { findLeader, type AskNode } from './find-leader.js';
import type { Member } from './gossip.js';

const leader = (node: string): Member => ({ node, state: 'leader', isAlive: true });
const follower = (node: string): Member => ({ node, state: 'follower', isAlive: true });
const never = new Promise<never>(() => undefined);
const silentFor = (milliseconds: number): Promise<never> =>
  new Promise((_, reject) => setTimeout(() => reject(new Error('no answer')), milliseconds));
const asking =
  (answers: Readonly<Record<string, () => Promise<readonly Member[]>>>): AskNode =>
  (node) =>
    answers[node]?.() ?? Promise.reject(new Error('nobody there'));

describe('the search for a leader', () => {
  it('takes the leader that answers, and does not wait for a silent node', async () => {
    const members = [leader('b:1'), follower('a:1'), follower('c:1')];
    const ask = asking({ 'a:1': () => never, 'b:1': async () => members, 'c:1': () => never });
    expect(await findLeader(['a:1', 'b:1', 'c:1'], ask, 1_000)).toMatchObject({ node: 'b:1', leads: true });
  });

  it('follows a follower to a leader that the address does not name, and remembers it', async () => {
    const members = [leader('b:1'), follower('a:1')];
    const ask = asking({ 'a:1': async () => members, 'b:1': async () => members });
    expect(await findLeader(['a:1'], ask, 1_000)).toEqual({
      node: 'b:1',
      leads: true,
      known: ['a:1', 'b:1'],
    });
  });

  it('does not believe in a leader that is silent, and finds the next one when it is elected', async () => {
    let elected = 'a:1';
    setTimeout(() => (elected = 'c:1'), 250);
    const members = (): readonly Member[] =>
      ['a:1', 'b:1', 'c:1'].map((node) => (node === elected ? leader(node) : follower(node)));
    const ask = asking({
      'a:1': () => silentFor(50),
      'b:1': async () => members(),
      'c:1': async () => members(),
    });
    expect(await findLeader(['a:1', 'b:1', 'c:1'], ask, 5_000)).toMatchObject({ node: 'c:1', leads: true });
  });

  it('takes the new leader as long as the others name the silent one beside it', async () => {
    const members = [leader('a:1'), leader('b:1'), follower('c:1')];
    const ask = asking({
      'a:1': () => silentFor(50),
      'b:1': async () => members,
      'c:1': async () => members,
    });
    expect(await findLeader(['a:1', 'c:1'], ask, 1_000)).toMatchObject({ node: 'b:1', leads: true });
  });

  it('passes over a leader that the others count as dead', async () => {
    const members = [{ ...leader('a:1'), isAlive: false }, leader('b:1')];
    const ask = asking({
      'c:1': async () => members,
      'b:1': async () => members,
      'a:1': async () => members,
    });
    expect(await findLeader(['c:1'], ask, 1_000)).toMatchObject({ node: 'b:1' });
  });

  it('without a leader ends with a node that answers', async () => {
    const ask = asking({ 'a:1': () => silentFor(10), 'b:1': async () => [follower('b:1')] });
    expect(await findLeader(['a:1', 'b:1'], ask, 200)).toMatchObject({ node: 'b:1', leads: false });
  });

  it('without any answer ends with the first node of the address', async () => {
    expect(await findLeader(['a:1', 'b:1'], asking({}), 200)).toMatchObject({ node: 'a:1', leads: false });
  });
});
