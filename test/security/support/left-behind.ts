import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { open } from '#platform/crypto/sealing.js';
import { unpad } from '#platform/padding/padding.js';
import type { EncryptionKey } from '#platform/config/settings.js';

/** The person whom an attacker looks for: the reading's facts, which the event log keeps permanently. */
export interface Sought {
  readonly readingId: string;
  readonly workspaceId: string;
  /** `sealedInput` of ReadingRequested, base64. */
  readonly sealedInput: string;
}

const KEY_BYTES = 32;
/** Length of nonce, key and tag. */
const WRAPPED_BYTES = 12 + KEY_BYTES + 16;
/** Maximum distance in a row from the id of the reading to its wrapped key. */
const ROW_BYTES = 256;
const PAGE_BYTES = 8_192;

/** The remaining key-encryption keys of an attacker who has the secrets and the folder of keys. */
export const keysLeft = (encryptionKeys: string, keyFolder: string): readonly Buffer[] => {
  const keys: EncryptionKey[] = encryptionKeys.split(',').map((part) => {
    const [id = '', key = ''] = part.split(':');
    return { id, key: Buffer.from(key, 'base64') };
  });
  const ring = new KeyRing(keys);
  const files = existsSync(keyFolder) ? readdirSync(keyFolder) : [];
  const ofEpochs = files.flatMap((name) => {
    try {
      return [ring.open(`key-epoch|${name.split('.')[0]}`, readFileSync(join(keyFolder, name)))];
    } catch {
      return [];
    }
  });
  return [...keys.map(({ key }) => key), ...ofEpochs];
};

/** The input, if a remaining key unwraps the data key at this offset; otherwise `null`. */
const tryAt = (bytes: Buffer, at: number, sought: Sought, keys: readonly Buffer[]): string | null => {
  const wrapped = bytes.subarray(at, at + WRAPPED_BYTES);
  const { readingId, workspaceId, sealedInput } = sought;
  for (const key of keys) {
    try {
      const dataKey = open(key, `subject-key|${readingId}|${workspaceId}`, wrapped);
      const context = `${readingId}|${workspaceId}|input|padded`;
      return unpad(open(dataKey, context, Buffer.from(sealedInput, 'base64'))).toString('utf8');
    } catch {
      continue;
    }
  }
  return null;
};

/** Offsets at which a wrapped key may start: after the id of a key-encryption key, or in a row of the reading. */
const candidates = function* (bytes: Buffer, { readingId }: Sought): Generator<number> {
  // The id of an epoch or of a configured key, or its end, which a log record of an update repeats.
  const text = bytes.toString('latin1');
  for (const { index, 0: found } of text.matchAll(/[0-9]{1,6}Z|k[0-9]/g)) yield index + found.length;
  const id = Buffer.from(readingId.replaceAll('-', ''), 'hex');
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + 1)) {
    for (let offset = id.length; offset < ROW_BYTES; offset += 1) yield at + offset;
  }
};

/** A log without its page headers, so that values that cross the end of a page are contiguous. */
const withoutPageHeaders = (log: Buffer): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(log.length / PAGE_BYTES) }, (_, page) =>
      log.subarray(page * PAGE_BYTES + (page === 0 ? 40 : 24), (page + 1) * PAGE_BYTES),
    ),
  );

/** The databases that `initdb` creates, which the service never writes. */
const TEMPLATES = /\/base\/[145]$/;

const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (TEMPLATES.test(path)) return [];
    const stats = statSync(path);
    if (stats.isDirectory()) return filesBelow(path);
    // Skips the server's socket.
    return stats.isFile() ? [path] : [];
  });

/** The files below a folder that contain a text, in clear. */
export const filesContaining = (folder: string, text: string): readonly string[] =>
  filesBelow(folder).filter((file) => {
    const bytes = readFileSync(file);
    return bytes.includes(text) || (file.includes('pg_wal') && withoutPageHeaders(bytes).includes(text));
  });

export interface Found {
  readonly file: string;
  readonly input: string;
}

const searchFile = (file: string, sought: Sought, keys: readonly Buffer[]): readonly Found[] => {
  const bytes = readFileSync(file);
  const forms = file.includes('pg_wal') ? [bytes, withoutPageHeaders(bytes)] : [bytes];
  for (const form of forms) {
    const tried = new Set<number>();
    for (const at of candidates(form, sought)) {
      if (tried.has(at) || at + WRAPPED_BYTES > form.length) continue;
      tried.add(at);
      const input = tryAt(form, at, sought, keys);
      if (input !== null) return [{ file, input }];
    }
  }
  return [];
};

/**
 * Searches every byte below a folder (tables, dead rows, the write-ahead log, the server's own log) for wrapped keys of
 * a reading, and opens those that one of the keys opens. @returns the first find in each file
 */
export const searchFiles = (folder: string, sought: Sought, keys: readonly Buffer[]): readonly Found[] => {
  // Nearly every attempt ends with an error, and its stack would take longer than the attempt.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return filesBelow(folder).flatMap((file) => searchFile(file, sought, keys));
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

/** Searches stored values of a restored database in the same way. */
export const searchValues = (values: readonly Buffer[], sought: Sought, keys: readonly Buffer[]): string[] =>
  values.flatMap((value) => {
    const input = tryAt(value, value.length - WRAPPED_BYTES, sought, keys);
    return input === null ? [] : [input];
  });
