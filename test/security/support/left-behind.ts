import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KeyRing } from '@app/platform/crypto/key-ring.js';
import { open } from '@app/platform/crypto/sealing.js';
import { unpad } from '@app/platform/padding/padding.js';
import type { EncryptionKey } from '@app/platform/config/settings.js';

/** A person whom an attacker looks for: what is known of the reading from the event log, which keeps it for ever. */
export interface Sought {
  readonly readingId: string;
  readonly workspaceId: string;
  /** `sealedInput` of ReadingRequested, base64. */
  readonly sealedInput: string;
}

const KEY_BYTES = 32;
/** Nonce, key, tag. */
const WRAPPED_BYTES = 12 + KEY_BYTES + 16;
/** How far behind the id of its reading a wrapped key lies in a row, at most. */
const ROW_BYTES = 256;
const PAGE_BYTES = 8_192;

/** Every key-encryption key that is left to an attacker who has the secrets and the folder of keys. */
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

/** What the attacker reads with a data key that some left key unwraps from these bytes; `null` when none does. */
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

/** Offsets at which a wrapped key of the reading may begin: behind the id of a key-encryption key, or in a row of the reading. */
const candidates = function* (bytes: Buffer, { readingId }: Sought): Generator<number> {
  // The whole id of an epoch or of a configured key, or as much of it as a log record of an update repeats.
  const text = bytes.toString('latin1');
  for (const { index, 0: found } of text.matchAll(/[0-9]{1,6}Z|k[0-9]/g)) yield index + found.length;
  const id = Buffer.from(readingId.replaceAll('-', ''), 'hex');
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + 1)) {
    for (let offset = id.length; offset < ROW_BYTES; offset += 1) yield at + offset;
  }
};

/** A log without the headers of its pages, so that what runs over the end of a page is whole. */
const withoutPageHeaders = (log: Buffer): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(log.length / PAGE_BYTES) }, (_, page) =>
      log.subarray(page * PAGE_BYTES + (page === 0 ? 40 : 24), (page + 1) * PAGE_BYTES),
    ),
  );

/** The databases that `initdb` made, which nobody writes to. */
const TEMPLATES = /\/base\/[145]$/;

const filesBelow = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (TEMPLATES.test(path)) return [];
    const stats = statSync(path);
    if (stats.isDirectory()) return filesBelow(path);
    // The server's socket is no file.
    return stats.isFile() ? [path] : [];
  });

export interface Found {
  readonly file: string;
  readonly input: string;
}

/**
 * Searches every byte below a folder (tables, dead rows, the write-ahead log, the server's own log) for wrapped keys of
 * a reading, and opens what any of the keys opens. Answers the first find of each file.
 */
export const searchFiles = (folder: string, sought: Sought, keys: readonly Buffer[]): readonly Found[] =>
  filesBelow(folder).flatMap((file) => {
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
  });

/** The same of stored values, as a restored database gives them. */
export const searchValues = (values: readonly Buffer[], sought: Sought, keys: readonly Buffer[]): string[] =>
  values.flatMap((value) => {
    const input = tryAt(value, value.length - WRAPPED_BYTES, sought, keys);
    return input === null ? [] : [input];
  });
