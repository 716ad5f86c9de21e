import type { QueryBus } from '@nestjs/cqrs';
import { setTimeout as delay } from 'node:timers/promises';
import { ApiKeyIsKnown } from '../contracts/index.js';

/** Longest wait until authentication knows a new key, milliseconds. */
const KNOWN_WITHIN_MS = 2_000;
const ASK_EVERY_MS = 25;

/** Waits until a new key works, but not long: a worker may be late. */
export const untilKnown = async (queries: QueryBus, keyId: string): Promise<void> => {
  for (const deadline = Date.now() + KNOWN_WITHIN_MS; Date.now() < deadline; await delay(ASK_EVERY_MS)) {
    if (await queries.execute(new ApiKeyIsKnown(keyId))) return;
  }
};
