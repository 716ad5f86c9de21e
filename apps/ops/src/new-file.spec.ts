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
import { replaceFile, writeNewFile, writeNewFiles } from './new-file.js';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'new-file-'));
  path = join(folder, 'out.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const fill = async (write: (part: Uint8Array) => void): Promise<number> => {
  write(Buffer.from('one\n'));
  write(Buffer.from('two\n'));
  return 2;
};

describe('A new file', () => {
  it('has all that was written, for its owner alone', async () => {
    expect(await writeNewFile(path, fill)).toBe(2);
    expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
    expect([readdirSync(folder), statSync(path).mode & 0o777]).toEqual([['out.jsonl'], 0o600]);
  });

  it('replaces no file that exists, nor a link that leads nowhere, nor asks for anything', async () => {
    const link = join(folder, 'link.jsonl');
    symlinkSync(join(folder, 'nowhere'), link);
    writeFileSync(path, 'kept');
    let asked = false;
    for (const one of [path, link])
      await expect(writeNewFile(one, async () => (asked = true))).rejects.toThrow(`${one} exists already`);
    expect([asked, readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([
      false,
      ['link.jsonl', 'out.jsonl'],
      'kept',
    ]);
  });

  it('has no name before it is complete, and what a killed run left is not in its way', async () => {
    writeFileSync(join(folder, 'out.jsonl.part'), 'half');
    await writeNewFile(path, async (write) => {
      write(Buffer.from('one'));
      expect(readdirSync(folder)).toEqual(['out.jsonl.part', expect.stringMatching(/^out[.]jsonl[.]part-/)]);
    });
    expect(readFileSync(path, 'utf8')).toBe('one');
  });

  it('of two that are written at once is the one that was complete first', async () => {
    const later = writeNewFile(path, async (write) => {
      write(Buffer.from('later'));
      await writeNewFile(path, fill);
    });
    await expect(later).rejects.toThrow(`${path} exists already`);
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['out.jsonl'], 'one\ntwo\n']);
  });

  it('is not there after a failure', async () => {
    const written = writeNewFile(path, async (write) => {
      write(Buffer.from('half'));
      throw new Error('the database is away');
    });
    await expect(written).rejects.toThrow('the database is away');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('names a folder that does not exist', async () => {
    const nowhere = join(folder, 'nowhere', 'out.jsonl');
    await expect(writeNewFile(nowhere, fill)).rejects.toThrow(`Cannot write ${nowhere}`);
  });
});

describe('New files that belong together', () => {
  const pair = () =>
    ['private', 'public'].map((name) => ({
      path: join(folder, name),
      text: name,
      isPublic: name === 'public',
    }));

  it('are for their owner alone, or for everybody, in a folder that only its owner may enter', async () => {
    const keys = join(folder, 'a', 'keys');
    const files = pair().map((one) => ({ ...one, path: join(keys, one.text) }));
    await writeNewFiles(files);
    expect(files.map(({ path: one }) => statSync(one).mode & 0o077)).toEqual([0, 0o044]);
    expect(statSync(keys).mode & 0o777).toBe(0o700);
  });

  it('are all written or none, so that the command can be repeated', async () => {
    writeFileSync(join(folder, 'public'), 'kept');
    await expect(writeNewFiles(pair())).rejects.toThrow('public exists already');
    expect([readdirSync(folder), readFileSync(join(folder, 'public'), 'utf8')]).toEqual([['public'], 'kept']);
  });
});

describe('A file that replaces an earlier one', () => {
  beforeEach(() => writeFileSync(path, 'earlier'));

  it('has all that was written, for its owner alone, also behind a link', async () => {
    const link = join(folder, 'link');
    symlinkSync(path, link);
    expect(await replaceFile(link, fill)).toBe(2);
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['one\ntwo\n', 0o600]);
    expect(readdirSync(folder)).toEqual(['link', 'out.jsonl']);
  });

  it('leaves that one until it is complete, and after a failure', async () => {
    const replaced = replaceFile(path, async (write) => {
      write(Buffer.from('half'));
      expect(readFileSync(path, 'utf8')).toBe('earlier');
      throw new Error('the database is away');
    });
    await expect(replaced).rejects.toThrow('the database is away');
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['out.jsonl'], 'earlier']);
  });

  it('is the whole text of one of two that are written at once', async () => {
    await Promise.all([fill, fill].map((each) => replaceFile(path, each)));
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['out.jsonl'], 'one\ntwo\n']);
  });

  it('is no device, which is written to; a full one is named', async () => {
    await expect(replaceFile('/dev/full', fill)).rejects.toThrow('Cannot write /dev/full: ENOSPC');
  });
});
