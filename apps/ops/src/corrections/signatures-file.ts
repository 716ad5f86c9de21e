import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf } from '@app/event-sourcing/core/stream-name.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import {
  CORRECTION_CATEGORIES,
  creditsEvents,
  type CorrectionsReport,
} from '@app/billing/contracts/index.js';
import { CorrectionsVerifier, withCauses } from '@app/billing/offline.js';
import { OpsError } from '../ops-error.js';

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

/** The last line: how many there are before it, and the hash of their bytes. A file without it was cut. */
const lastLine = z.strictObject({
  end: z.strictObject({ events: z.int().nonnegative(), sha256: z.string().regex(/^[0-9a-f]{64}$/) }),
});

/** What a file lacks, besides what its signatures say. */
export interface SignatureFileReport extends CorrectionsReport {
  /** Hash of all lines but the last, as `ops corrections export` printed it. */
  readonly sha256: string;
  /** One sentence for each place where lines are missing or others. */
  readonly missing: readonly string[];
}

/**
 * The lines of a file with its last line.
 * @returns the hash of the file, which an auditor should receive by another way
 */
export async function* signatureFile(
  store: EventStore,
): AsyncGenerator<string, Pick<SignatureFileReport, 'sha256'> & { events: number }> {
  const hash = createHash('sha256');
  let events = 0;
  for await (const text of signatureLines(store)) {
    hash.update(text);
    events += 1;
    yield text;
  }
  const end = { events, sha256: hash.digest('hex') };
  yield `${JSON.stringify({ end })}\n`;
  return end;
}

/** The operators, the corrections, the corrected books' entries and their causes, in the order of the log: lines of JSON. */
async function* signatureLines(store: EventStore): AsyncGenerator<string> {
  const head = await store.head();
  const only = { categories: [...CORRECTION_CATEGORIES, creditsEvents.category] };
  const concerned: StoredEvent[] = [];
  for await (const stored of store.readAll({ only })) {
    if (head === null || stored.position > head) break;
    if (categoryOf(stored.stream) !== creditsEvents.category || stored.type === 'CreditsAdjusted')
      concerned.push(stored);
  }
  for (const stored of await withCauses(store, concerned)) {
    const { stream, revision, id, type, data, metadata, quarantine } = stored;
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

/** Finds lines that were left out: revisions without a gap where a file has whole streams, and the last line. */
class Completeness {
  readonly missing: string[] = [];
  private readonly next = new Map<string, bigint>();
  private readonly hash = createHash('sha256');
  private events = 0;
  private end: z.infer<typeof lastLine>['end'] | null = null;

  /** @returns whether the line is the last one of a file */
  isEnd(value: unknown): boolean {
    const { success, data } = lastLine.safeParse(value);
    if (success) this.end = data.end;
    return success;
  }

  see(text: string, { stream, revision }: StoredEvent): void {
    if (this.end) this.missing.push(`${stream} revision ${revision} stands after the last line`);
    this.hash.update(`${text}\n`);
    this.events += 1;
    const next = this.next.get(stream) ?? 0n;
    const isWhole = CORRECTION_CATEGORIES.includes(categoryOf(stream));
    if (revision < next) this.missing.push(`${stream} revision ${revision} stands in the wrong place`);
    else if (isWhole && revision > next)
      this.missing.push(
        `${stream}: revision ${next} is missing${revision > next + 1n ? `, and all up to ${revision - 1n}` : ''}`,
      );
    this.next.set(stream, revision + 1n);
  }

  /** @param given the hash that the auditor received by another way */
  report(given: string | undefined): Pick<SignatureFileReport, 'sha256' | 'missing'> {
    const sha256 = this.hash.digest('hex');
    if (!this.end) this.missing.push('the file has no last line: it was cut, or an older version wrote it');
    else if (this.end.events !== this.events)
      this.missing.push(`the file has ${this.events} events, and its last line counts ${this.end.events}`);
    else if (this.end.sha256 !== sha256)
      this.missing.push('the lines are not those that the last line states');
    if (given !== undefined && given !== sha256)
      this.missing.push(`the file has the hash ${sha256}, not the given one`);
    return { sha256, missing: this.missing };
  }
}

/**
 * Checks a file of those lines, without a connection.
 * @param given the hash that the export printed, if the caller has it
 * @throws OpsError when it cannot be read
 */
export const verifySignatureFile = async (
  path: string,
  rootKeys: readonly string[],
  given?: string,
): Promise<SignatureFileReport> => {
  const verifier = new CorrectionsVerifier(rootKeys);
  const completeness = new Completeness();
  let number = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(path) })) {
      number += 1;
      const value: unknown = JSON.parse(text);
      if (completeness.isEnd(value)) continue;
      const event = storedEvent(line.parse(value));
      completeness.see(text, event);
      verifier.see(event);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OpsError(
      code === 'ENOENT' ? `There is no ${path}.` : `Line ${number} of ${path} is no event of an export.`,
    );
  }
  return { ...verifier.report(), ...completeness.report(given) };
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
