import type { Command } from 'commander';
import { addDelivery } from './webhooks/delivery.js';
import { addEnable } from './webhooks/enable.js';
import { addExport } from './webhooks/export.js';
import { addHealth } from './webhooks/health.js';
import { addList } from './webhooks/list.js';
import { addReplay } from './webhooks/replay.js';
import { addStats } from './webhooks/stats.js';

/** The operator's commands for webhooks: find failing endpoints, enable them, replay what they missed, keep old deliveries. */
export const addWebhooksCommands = (webhooks: Command): void => {
  const commands = [addList, addHealth, addStats, addDelivery, addReplay, addEnable, addExport];
  for (const add of commands) add(webhooks);
};
