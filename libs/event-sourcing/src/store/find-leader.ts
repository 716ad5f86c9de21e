import { setTimeout as delay } from 'node:timers/promises';
import type { Member } from './gossip.js';

/** Asks one node for the members of its cluster. It rejects when the node does not answer in time. */
export type AskNode = (node: string) => Promise<readonly Member[]>;

export interface FoundNode {
  readonly node: string;
  /** `false`: nobody leads now. The node refuses, which starts the next search. */
  readonly leads: boolean;
  /** All nodes that are known now, for the next search. */
  readonly known: readonly string[];
}

/** An election takes a second or two. */
const BETWEEN_ROUNDS_MS = 100;

/**
 * Asks all nodes at once and takes the first leader that answers itself. Others may name a leader that has fallen silent,
 * until they have elected a new one. Nobody waits for a silent node, unless all are.
 * @param withinMs after this time, it returns a node that answered, or the first one
 */
export const findLeader = async (
  nodes: readonly string[],
  ask: AskNode,
  withinMs: number,
): Promise<FoundNode> => {
  const known = new Set(nodes);
  let answered: string | undefined;
  const learn = async (node: string): Promise<readonly Member[]> => {
    const members = await ask(node);
    answered = node;
    for (const member of members) if (member.isAlive) known.add(member.node);
    return members;
  };
  const leads = async (node: string): Promise<string> => {
    if (leadersOf(await learn(node)).includes(node)) return node;
    throw new Error(`${node} does not lead`);
  };
  const leaderKnownTo = async (node: string): Promise<string> => {
    const leaders = leadersOf(await learn(node));
    return leaders.includes(node) ? node : Promise.any(leaders.map(leads));
  };

  const until = performance.now() + withinMs;
  do {
    try {
      const node = await Promise.any([...known].map(leaderKnownTo));
      return { node, leads: true, known: [...known] };
    } catch {
      await delay(BETWEEN_ROUNDS_MS);
    }
  } while (performance.now() < until);
  return { node: answered ?? nodes[0]!, leads: false, known: [...known] };
};

/** For some seconds, others name a leader that has fallen silent beside the one that they have elected. */
const leadersOf = (members: readonly Member[]): readonly string[] =>
  members.filter(({ state, isAlive }) => state === 'leader' && isAlive).map(({ node }) => node);
