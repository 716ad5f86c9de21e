import { randomBytes, randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, readFile, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeyRing } from '../key-ring.js';
import { SealBroken } from '../sealing.js';
import { KeysUnavailable, splitKeyId } from '../wrapping-keys.js';
import { startOf } from './epoch.js';

const KEY = '.key';
const DESTROYED = '.destroyed';

/**
 * Epoch keys as files in a folder, each sealed with the first of ENCRYPTION_KEYS: the folder alone opens nothing. Every
 * process of the service needs the same folder. Destroying a key overwrites and unlinks its file. A copy-on-write file
 * system, an SSD or a snapshot may keep the old bytes, which still need ENCRYPTION_KEYS to open.
 *
 * Every method throws KeysUnavailable when the folder does not let it do its work.
 */
export class FileKeyStore {
  constructor(
    private readonly folder: string,
    private readonly ring: KeyRing,
  ) {}

  /** Makes the key of an epoch whose key was not destroyed, or returns the existing one: all processes get the same. */
  make(epoch: string): Promise<Buffer> {
    return this.attempt(`make the key of ${epoch}`, async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      if (await exists(this.path(epoch, DESTROYED)))
        throw new KeysUnavailable(`The key of epoch ${epoch} was destroyed; it is not made again`);
      const draft = this.path(epoch, `.${randomUUID()}.draft`);
      await writeNew(draft, this.ring.seal(context(epoch), randomBytes(32)));
      // Unlike a rename, a link fails when another process was first.
      await link(draft, this.path(epoch, KEY)).catch(unless('EEXIST'));
      await unlink(draft);
      await this.sync();
      const key = await this.read(epoch);
      if (!key) throw new KeysUnavailable(`The key of epoch ${epoch} disappeared while it was being made`);
      return key;
    });
  }

  /**
   * `destroyed` only when the folder remembers it. An absent key may only mean an unmounted volume, and must not count as
   * an erasure.
   */
  open(epoch: string): Promise<Buffer | 'destroyed' | 'missing'> {
    return this.attempt(`open the key of ${epoch}`, async () => {
      // The destruction mark wins over files that a process killed during resealing left behind.
      if (await exists(this.path(epoch, DESTROYED))) return 'destroyed';
      return (await this.read(epoch)) ?? 'missing';
    });
  }

  /** Destroys the key permanently, and remembers it. Idempotent. */
  destroy(epoch: string): Promise<void> {
    return this.attempt(`destroy the key of ${epoch}`, async () => {
      await writeNew(this.path(epoch, DESTROYED), Buffer.alloc(0)).catch(unless('EEXIST'));
      await this.sync();
      // Includes drafts of a process that was killed while making the key.
      for (const name of await readdir(this.folder)) {
        if (name.startsWith(`${epoch}.`) && !name.endsWith(DESTROYED))
          await shred(join(this.folder, name)).catch(unless('ENOENT'));
      }
      await this.sync();
    });
  }

  /** Epochs whose keys still exist. */
  list(): Promise<readonly string[]> {
    return this.attempt('list the epoch keys', () => this.epochs());
  }

  /** How many keys each of ENCRYPTION_KEYS has sealed here, by its id. */
  sealedBy(): Promise<ReadonlyMap<string, number>> {
    return this.attempt('read the epoch keys', async () => {
      const counts = new Map<string, number>();
      for (const epoch of await this.epochs()) {
        const { id } = splitKeyId(await readFile(this.path(epoch, KEY)));
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      return counts;
    });
  }

  /** Seals again with the first of ENCRYPTION_KEYS what others of them sealed. @returns how many */
  reseal(): Promise<number> {
    return this.attempt('reseal the epoch keys', async () => {
      let resealed = 0;
      for (const epoch of await this.epochs()) {
        const path = this.path(epoch, KEY);
        if (await exists(this.path(epoch, DESTROYED))) {
          await this.destroy(epoch);
          continue;
        }
        const bytes = await readFile(path);
        if (splitKeyId(bytes).id === this.ring.currentKeyId) continue;
        const draft = this.path(epoch, `.${randomUUID()}.draft`);
        await writeNew(draft, this.ring.seal(context(epoch), this.ring.open(context(epoch), bytes)));
        await rename(draft, path);
        // Another process has destroyed it in the meantime: do not recreate it.
        if (await exists(this.path(epoch, DESTROYED))) await this.destroy(epoch);
        resealed += 1;
      }
      if (resealed > 0) await this.sync();
      return resealed;
    });
  }

  private async epochs(): Promise<readonly string[]> {
    const names = (await readdir(this.folder).catch(unless('ENOENT'))) ?? [];
    const epochs = names.filter((name) => name.endsWith(KEY)).map((name) => name.slice(0, -KEY.length));
    return epochs.filter((epoch) => startOf(epoch) !== null).sort();
  }

  private async read(epoch: string): Promise<Buffer | null> {
    const bytes = await readFile(this.path(epoch, KEY)).catch(unless('ENOENT'));
    return bytes ? this.ring.open(context(epoch), bytes) : null;
  }

  private path(epoch: string, ending: string): string {
    // Names come from the database; none may point outside the folder.
    if (startOf(epoch) === null) throw new TypeError(`${epoch} is not the name of an epoch`);
    return join(this.folder, `${epoch}${ending}`);
  }

  /** Makes creation and removal survive a power cut. */
  private async sync(): Promise<void> {
    const folder = await open(this.folder, constants.O_RDONLY);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  private async attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof KeysUnavailable) throw error;
      if (error instanceof SealBroken)
        throw new KeysUnavailable(`Cannot ${what} in KEY_DIRECTORY: ENCRYPTION_KEYS do not open it`);
      throw new KeysUnavailable(
        `Cannot ${what} in KEY_DIRECTORY: ${(error as NodeJS.ErrnoException).code ?? (error as Error).name}`,
        { cause: error },
      );
    }
  }
}

const context = (epoch: string): string => `key-epoch|${epoch}`;

const writeNew = (path: string, bytes: Buffer): Promise<void> =>
  writeFile(path, bytes, { flag: 'wx', mode: 0o600, flush: true });

const shred = async (path: string): Promise<void> => {
  const { size } = await stat(path);
  // In place: the file is not truncated.
  await writeFile(path, randomBytes(Math.max(size, 1)), { flag: 'r+', flush: true });
  await unlink(path);
};

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(unless('ENOENT'))) !== undefined;

const unless =
  (code: string) =>
  (error: unknown): undefined => {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
    return undefined;
  };
