import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import {
  correctionDayEvents,
  correctionEvents,
  creditsEvents,
  operatorsEvents,
  type CorrectionsReport,
} from '@app/billing/contracts/index.js';
import { CorrectionsVerifier } from '@app/billing/offline.js';
import { OpsError } from '../ops-error.js';

const SIGNED: readonly string[] = [
  operatorsEvents.category,
  correctionEvents.category,
  correctionDayEvents.category,
];

/** One event a line, as the log has it: what the signatures and the entries are checked from. */
const line = z.strictObject({
  stream: z.string(),
  revision: z.string().regex(/^\d+$/),
  id: z.string(),
  type: z.string(),
  schemaVersion: z.int(),
  occurredAt: z.string(),
  data: z.unknown(),
  /** Why readers pass over the event; absent for nearly every event. */
  quarantine: z
    .strictObject({
      consumers: z.array(z.string()).nullable(),
      by: z.string(),
      reason: z.string(),
      at: z.string(),
      until: z.string().nullable(),
    })
    .optional(),
});

/** The operators, the corrections and the corrected books' entries, in the order of the log: lines of JSON. */
export async function* signatureLines(store: EventStore): AsyncGenerator<string> {
  const head = await store.head();
  for await (const { stream, revision, position, id, type, data, metadata, quarantine } of store.readAll()) {
    if (head === null || position > head) return;
    const category = categoryOf(stream);
    if (!SIGNED.includes(category) && !(category === creditsEvents.category && type === 'CreditsAdjusted'))
      continue;
    const { schemaVersion, occurredAt } = metadata;
    const event = {
      stream,
      revision: String(revision),
      id,
      type,
      schemaVersion,
      occurredAt,
      data,
      quarantine,
    };
    yield `${JSON.stringify(event)}\n`;
  }
}

/** Checks a file of those lines, without a connection. @throws OpsError when it cannot be read */
export const verifySignatureFile = async (
  path: string,
  rootKeys: readonly string[],
): Promise<CorrectionsReport> => {
  const verifier = new CorrectionsVerifier(rootKeys);
  let number = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(path) })) {
      number += 1;
      verifier.see(storedEvent(line.parse(JSON.parse(text))));
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OpsError(
      code === 'ENOENT' ? `There is no ${path}.` : `Line ${number} of ${path} is no event of an export.`,
    );
  }
  return verifier.report();
};

const storedEvent = ({
  schemaVersion,
  occurredAt,
  revision,
  quarantine,
  ...event
}: z.infer<typeof line>): StoredEvent => ({
  ...event,
  ...(quarantine && { quarantine }),
  revision: BigInt(revision),
  position: 0n,
  metadata: { correlationId: '', causationId: '', workspaceId: '', actor: '', occurredAt, schemaVersion },
});
