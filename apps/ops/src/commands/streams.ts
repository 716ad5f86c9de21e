import type { Command } from 'commander';
import { addFind } from './streams/find.js';
import { addShow } from './streams/show.js';
import { addTail } from './streams/tail.js';

/** Commands that read the log itself. Personal data stays sealed in their output. */
export const addStreamsCommands = (streams: Command): void => {
  for (const add of [addShow, addTail, addFind]) add(streams);
};
