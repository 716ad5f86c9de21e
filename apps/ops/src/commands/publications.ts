import type { Command } from 'commander';
import { addRemake } from './publications/remake.js';
import { addRepublish } from './publications/republish.js';

/** The operator's commands for documents: publish again from new texts, make lost ones again. */
export const addPublicationsCommands = (publications: Command): void => {
  for (const add of [addRepublish, addRemake]) add(publications);
};
