import type { Command } from 'commander';
import { addLag, addList, addStatus } from './projections/look.js';
import { addDrop, addRebuild, addReplay, addSwitch, addVerify } from './projections/rebuild.js';

/** Read models: how they fare, and how they are built again while they are read. */
export const addProjectionsCommands = (projections: Command): void => {
  projections.addHelpText(
    'after',
    `
A rebuild fills another version of a projection's tables beside the live ones, which go on. It is compared with them
row by row, takes their place in one transaction, and the old tables are dropped later:
  ops projections rebuild readings.reading.v1
  ops projections verify readings.reading.v1
  ops projections switch readings.reading.v1
  ops projections drop readings.reading.v1
or all of it at once:
  ops projections replay readings.reading.v1`,
  );
  for (const add of [addList, addStatus, addLag, addRebuild, addVerify, addSwitch, addDrop, addReplay]) {
    add(projections);
  }
};
