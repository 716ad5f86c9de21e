import type { Command } from 'commander';
import { addEnable } from './webhooks/enable.js';
import { addHealth } from './webhooks/health.js';
import { addList } from './webhooks/list.js';
import { addReplay } from './webhooks/replay.js';

/** What an operator does about webhooks: see which endpoints suffer, switch them on, send again what they missed. */
export const addWebhooksCommands = (webhooks: Command): void => {
  for (const add of [addList, addHealth, addReplay, addEnable]) add(webhooks);
};
