import type { Command } from 'commander';
import { addAdd } from './quarantine/add.js';
import { addList } from './quarantine/list.js';
import { addWithdraw } from './quarantine/withdraw.js';

/** Events that readers pass over, by an operator's decision. */
export const addQuarantineCommands = (quarantine: Command): void => {
  quarantine.addHelpText(
    'after',
    `
A quarantine is an event of its own (ops streams show quarantine-events). Consumers, rebuilds, replays, reports,
exports and the history of a reading pass over the quarantined event, and say so. It ends when it is withdrawn.`,
  );
  for (const add of [addList, addAdd, addWithdraw]) add(quarantine);
};
