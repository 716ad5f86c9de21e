import type { Command } from 'commander';
import { addEnable } from './webhooks/enable.js';
import { addExport } from './webhooks/export.js';
import { addHealth } from './webhooks/health.js';
import { addList } from './webhooks/list.js';
import { addReplay } from './webhooks/replay.js';
import { addStats } from './webhooks/stats.js';

/** The operator's commands for webhooks: find failing endpoints, enable them, replay what they missed, keep old deliveries. */
export const addWebhooksCommands = (webhooks: Command): void => {
  for (const add of [addList, addHealth, addStats, addReplay, addEnable, addExport]) add(webhooks);
};
