import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogFile } from './log-file.js';

const MEBIBYTE = 1024 * 1024;
const newFolder = (): string => mkdtempSync(join(tmpdir(), 'log-'));

describe('the log of a child', () => {
  it('is appended to by the next run', () => {
    const folder = newFolder();
    new LogFile(folder, 'api').append(Buffer.from('one\n'));
    const log = new LogFile(folder, 'api');
    log.append(Buffer.from('two\n'));
    expect(readFileSync(log.path, 'utf8')).toBe('one\ntwo\n');
    expect(log.lastLines(5)).toBe('  two');
  });

  it('is rotated after 10 MiB and keeps one older file', () => {
    const log = new LogFile(newFolder(), 'api');
    for (let round = 0; round < 25; round++) log.append(Buffer.alloc(MEBIBYTE, String(round % 10)));
    expect(statSync(log.path).size).toBe(5 * MEBIBYTE);
    expect(statSync(`${log.path}.1`).size).toBe(10 * MEBIBYTE);
  });
});
