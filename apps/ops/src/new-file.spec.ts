import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeNewFile, writeNewFiles } from './new-file.js';

let folder: string;
let path: string;
let link: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'new-file-'));
  [path, link] = [join(folder, 'out.jsonl'), join(folder, 'link')];
});
afterEach(() => rmSync(folder, { recursive: true }));

const fill = async (write: (part: Uint8Array) => void): Promise<number> => {
  write(Buffer.from('one\n'));
  write(Buffer.from('two\n'));
  return 2;
};
const failing = async (write: (part: Uint8Array) => void): Promise<never> => {
  write(Buffer.from('half'));
  throw new Error('the database is away');
};
const whole = () => expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');

describe('A new file', () => {
  it('has all that was written, for its owner alone, and no name before it is complete', async () => {
    // What a killed run left is in nobody's way.
    writeFileSync(`${path}.part`, 'half');
    await writeNewFile(path, async (write) => {
      expect(readdirSync(folder)).toEqual(['out.jsonl.part', expect.stringMatching(/^out[.]jsonl[.]part-/)]);
      return fill(write);
    });
    whole();
    expect([readdirSync(folder), statSync(path).mode & 0o777]).toEqual([
      ['out.jsonl', 'out.jsonl.part'],
      0o600,
    ]);
  });

  it('replaces no file that exists, nor a link that leads nowhere, nor asks for anything', async () => {
    symlinkSync(join(folder, 'nowhere'), link);
    writeFileSync(path, 'kept');
    let asked = false;
    for (const one of [path, link])
      await expect(writeNewFile(one, async () => (asked = true))).rejects.toThrow(`${one} exists already`);
    expect([asked, readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([
      false,
      ['link', 'out.jsonl'],
      'kept',
    ]);
  });

  it('is not there after a failure', async () => {
    await expect(writeNewFile(path, failing)).rejects.toThrow('the database is away');
    expect(readdirSync(folder)).toEqual([]);
    const nowhere = join(folder, 'nowhere', 'out.jsonl');
    await expect(writeNewFile(nowhere, fill)).rejects.toThrow(`Cannot write ${nowhere}`);
  });
});

it('New files that belong together are private or public, in a private folder, and all written or none', async () => {
  const keys = join(folder, 'a', 'keys');
  const files = ['private', 'public'].map((text) => ({
    path: join(keys, text),
    text,
    isPublic: text === 'public',
  }));
  await writeNewFiles(files);
  expect([keys, ...files.map((one) => one.path)].map((one) => statSync(one).mode & 0o777)).toEqual([
    0o700, 0o600, 0o644,
  ]);
  rmSync(files[0]!.path);
  await expect(writeNewFiles(files)).rejects.toThrow('public exists already');
  expect(readdirSync(keys)).toEqual(['public']);
});
