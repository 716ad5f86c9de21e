import { createPrivateKey, type KeyObject } from 'node:crypto';
import { signedText } from '../src/domain/correction.js';
import { publicKeyOf, signText } from '../src/offline.js';
import type { Operator } from '../src/settings.js';
import type { CreditsCommand, EntryToBook } from '../src/domain/credits.decider.js';

export interface Person {
  readonly name: string;
  readonly privateKey: KeyObject;
  readonly publicKey: string;
}

/** The same key in every run: Ed25519 has no randomness. */
const person = (name: string): Person => {
  const der = Buffer.from('302e020100300506032b657004220420', 'hex');
  const privateKey = createPrivateKey({
    key: Buffer.concat([der, Buffer.alloc(32, name)]),
    format: 'der',
    type: 'pkcs8',
  });
  return { name, privateKey, publicKey: publicKeyOf(privateKey) };
};

/** Ada and Grace are operators; Eve is none. */
export const [ada, grace, eve] = [person('ada'), person('grace'), person('eve')];
export const OPERATORS: readonly Operator[] = [ada, grace].map(({ name, publicKey }) => ({
  name,
  publicKey,
  state: 'active',
  retiredAt: null,
}));
/** The same as a setting. */
export const OPERATORS_SETTING = OPERATORS.map(({ name, publicKey }) => `${name}:${publicKey}`).join();

type Untimed = Omit<Extract<CreditsCommand, { type: 'BookCorrection' }>, 'now' | 'actor'> & {
  readonly actor?: string;
};

/** The command with the signatures of its operators over each entry that has none. Ada and Grace sign for unknown names. */
export const signedCommand = <C extends Untimed>(
  workspaceId: string,
  command: C,
  [proposer = ada, approver = grace]: readonly Person[] = [],
): C => {
  const correctionId = command.correctionId || 'correction';
  const proposedBy = (command.actor ?? 'operator:ada').replace('operator:', '');
  const sign = (entry: EntryToBook): EntryToBook => {
    if (entry.signed) return entry;
    const text = signedText({ ...entry, workspaceId, correctionId, proposedBy });
    const signed = {
      grantId: entry.grantId,
      proposer: signText(text, proposer.privateKey),
      approver: signText(text, approver.privateKey),
    };
    return { ...entry, signed };
  };
  return { ...command, correctionId, entries: command.entries.map(sign) };
};
