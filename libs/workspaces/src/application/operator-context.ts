import { randomUUID } from 'node:crypto';
import { instant } from '@app/event-sourcing/core/clock.js';
import type { CommandContext } from '@app/event-sourcing/handling/command-executor.js';

/**
 * The context of a command that someone gives directly: it is its own cause.
 * @param now milliseconds since the epoch
 */
export const operatorContext = (
  workspaceId: string,
  intent: string,
  actor: string,
  now: number,
): CommandContext => {
  const requestId = randomUUID();
  return {
    intent,
    metadata: {
      correlationId: requestId,
      causationId: requestId,
      workspaceId,
      actor,
      occurredAt: instant(now),
    },
  };
};
