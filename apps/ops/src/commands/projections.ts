import type { Command } from 'commander';
import { addLag, addList, addStatus } from './projections/look.js';
import { addDrop, addRebuild, addReplay, addSwitch, addVerify } from './projections/rebuild.js';
import { addRestore } from './projections/restore.js';

/** Read models: their state, and how to rebuild them while they stay in use. */
export const addProjectionsCommands = (projections: Command): void => {
  projections.addHelpText(
    'after',
    `
A rebuild fills a new version of a projection's tables beside the live ones, which stay in use. It is compared with them
row by row and replaces them in one transaction; the old tables are dropped later:
  ops projections rebuild readings.reading.v1
  ops projections verify readings.reading.v1
  ops projections switch readings.reading.v1
  ops projections drop readings.reading.v1
or all of it at once:
  ops projections replay readings.reading.v1

After a loss of tables:
  ops projections restore --all`,
  );
  const all = [addList, addStatus, addLag, addRebuild, addVerify, addSwitch, addDrop, addReplay, addRestore];
  for (const add of all) add(projections);
};
