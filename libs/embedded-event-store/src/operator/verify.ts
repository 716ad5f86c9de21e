import { dataFileOf, type LogStore } from '../log/log-store.js';
import { lookAt } from '../log/look-at.js';
import { describeDamage, isDamage, UnusableDataError } from '../log/environment.js';
import { StoredRecord } from '../log/record.js';
import { NO_EVENTS } from '../streams/stream-head.js';
import { spawn } from 'node:child_process';

/** Maximum number of findings described; further ones are only counted. */
const MAX_LISTED = 100;

export interface Verification {
  readonly events: number;
  readonly streams: number;
  /** Number of findings; 0 for a sound store. */
  readonly findings: number;
  /** Descriptions of the first findings. */
  readonly listed: readonly string[];
}

class Findings {
  count = 0;
  readonly listed: string[] = [];

  add(finding: string): void {
    this.count++;
    if (this.listed.length < MAX_LISTED) this.listed.push(finding);
  }
}

/** Checks every record: its checksum, its position, and its index entry for stream and revision. */
const verifyLog = (store: LogStore, findings: Findings): number => {
  let end = 0n;
  let events = 0;
  for (const { position, bytes } of store.rawRecords()) {
    events++;
    if (position < end) findings.add(`The record at position ${position} overlaps the previous one.`);
    end = position + BigInt(bytes.length);
    if (!store.isFound(position)) findings.add(`A lookup does not find the record at position ${position}.`);
    let record: StoredRecord;
    try {
      record = StoredRecord.from(bytes, position);
    } catch (error) {
      if (!isDamage(error)) throw error;
      findings.add(error.message);
      continue;
    }
    const { stream, revision } = record;
    const head = store.head(stream);
    if (!head) findings.add(`The stream ${stream} of the event at position ${position} has no head.`);
    else if (store.positionOf(head.number, revision) !== position) {
      findings.add(`The index has no entry for the event at position ${position}, ${revision}@${stream}.`);
    }
  }
  return events;
};

/** Checks the index: one entry per event, and no gap in a stream's revisions. */
const verifyIndex = (store: LogStore, findings: Findings, events: number): void => {
  let entries = 0;
  let streamNumber = -1;
  let expected: bigint | undefined;
  for (const entry of store.indexEntries()) {
    entries++;
    if (entry.streamNumber !== streamNumber) expected = undefined;
    streamNumber = entry.streamNumber;
    if (expected !== undefined && entry.revision !== expected) {
      const gap = `from ${expected - 1n} to ${entry.revision}`;
      findings.add(`Stream number ${streamNumber} has a gap ${gap}.`);
    }
    expected = entry.revision + 1n;
  }
  const counted = store.streamCount();
  const { streams } = store.usage();
  if (counted !== streams) findings.add(`${streams} streams have heads, but ${counted} were counted.`);
  if (entries !== events) findings.add(`The index has ${entries} entries for ${events} events.`);
};

/** Checks the heads: each number is unique and below the count, and the last event exists with nothing after it. */
const verifyHeads = (store: LogStore, findings: Findings): number => {
  const count = store.streamCount();
  const used = new Set<number>();
  let heads = 0;
  for (const { name, number, last } of store.allHeads()) {
    heads++;
    if (number >= count)
      findings.add(`The stream ${name} has number ${number}, but there are only ${count} streams.`);
    if (used.has(number)) findings.add(`The stream ${name} shares number ${number} with another stream.`);
    used.add(number);
    if (last === NO_EVENTS) continue;
    if (store.positionOf(number, last) === undefined)
      findings.add(`The last event of the stream ${name}, revision ${last}, is not in the index.`);
    if (store.positionOf(number, last + 1n) !== undefined)
      findings.add(`The stream ${name} has events after revision ${last}, the last one in its head.`);
  }
  return heads;
};

/** Damage that ends one part of the check is a finding; the other parts still run. */
const part = <T>(findings: Findings, store: LogStore, work: () => T): readonly T[] => {
  try {
    return [work()];
  } catch (error) {
    if (!isDamage(error)) throw error;
    findings.add(describeDamage(store.file, error));
    return [];
  }
};

/**
 * Checks a whole store: every record's checksum and position, and that log, index and heads agree. It reads
 * one durable state, so a server may continue to write.
 * @throws {UnusableDataError} when the folder has no store of this format
 */
export const verifyFolder = (folder: string): Promise<Verification> =>
  lookAt(folder, (store) => {
    const findings = new Findings();
    const [events = 0] = part(findings, store, () => verifyLog(store, findings));
    part(findings, store, () => verifyIndex(store, findings, events));
    const [streams = 0] = part(findings, store, () => verifyHeads(store, findings));
    return { events, streams, findings: findings.count, listed: findings.listed };
  });

/** Set in the process that really verifies. */
export const VERIFYING = 'EMBEDDED_EVENT_STORE_VERIFYING';

/**
 * Like `verifyFolder`, in a process of its own: LMDB maps the file into memory, and damaged page links can end the
 * process that follows them. Such an end is a finding.
 * @param program path of this library's program
 * @throws {UnusableDataError} when the folder has no store of this format
 */
export const verifyApart = async (program: string, folder: string): Promise<Verification> => {
  const child = spawn(process.execPath, [program, 'verify', '--data', folder, '--json'], {
    env: { ...process.env, [VERIFYING]: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [output, said] = ['', ''];
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr.on('data', (text: Buffer) => (said += text.toString()));
  const ended = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_, killedBy) => resolve(killedBy));
  });
  if (ended !== null) {
    const finding = `The data file ${dataFileOf(folder)} is damaged: reading it ended the process with ${ended}.`;
    return { events: 0, streams: 0, findings: 1, listed: [finding] };
  }
  if (output === '') throw new UnusableDataError(said.trim().split('\n').at(-1) ?? 'The check did not run.');
  return JSON.parse(output) as Verification;
};
