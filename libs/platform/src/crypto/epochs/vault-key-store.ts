import { KeysUnavailable } from '../wrapping-keys.js';
import { startOf } from './epoch.js';
import type { EpochKeyStore } from './key-store.js';
import type { VaultAnswer, VaultClient } from './vault-client.js';

export interface VaultPlace {
  /** Where the transit engine is mounted. */
  readonly mount: string;
  /** The prefix of our key names in the vault. */
  readonly prefix: string;
}

const DESTROYED = '-destroyed';
const KEY_TYPE = 'aes256-gcm96';

/**
 * Epoch keys in HashiCorp Vault's transit engine, or a server with its API. For each epoch, a transit key that never
 * leaves the vault seals the epoch's data key. PostgreSQL stores the sealed data key, which opens nothing once the
 * transit key is deleted. An epoch costs each process one call; a reading costs none. A transit key whose name ends in
 * `-destroyed` records that a key was destroyed on purpose.
 */
export class VaultKeyStore implements EpochKeyStore {
  readonly provider = 'vault';

  constructor(
    private readonly client: VaultClient,
    private readonly place: VaultPlace,
  ) {}

  async make(epoch: string) {
    if (await this.exists(`${epoch}${DESTROYED}`))
      throw new KeysUnavailable(`The key of epoch ${epoch} was destroyed; it is not made again`);
    await this.create(epoch);
    const answer = await this.client.call('POST', this.path('datakey/plaintext', epoch), { bits: 256 });
    this.expect(answer, `a data key of ${epoch}`);
    return { key: keyOf(answer), stored: Buffer.from(String(answer.data['ciphertext']), 'utf8') };
  }

  async open(epoch: string, stored: Buffer | null) {
    if (!stored) return (await this.exists(`${epoch}${DESTROYED}`)) ? 'destroyed' : 'missing';
    const answer = await this.client.call('POST', this.path('decrypt', epoch), {
      ciphertext: stored.toString('utf8'),
    });
    if (answer.status === 200) return keyOf(answer);
    if (await this.exists(epoch)) throw this.refused(answer, `the data key of ${epoch}`);
    return (await this.exists(`${epoch}${DESTROYED}`)) ? 'destroyed' : 'missing';
  }

  async destroy(epoch: string): Promise<void> {
    await this.create(`${epoch}${DESTROYED}`);
    if (!(await this.exists(epoch))) return;
    const config = await this.client.call('POST', `${this.path('keys', epoch)}/config`, {
      deletion_allowed: true,
    });
    this.expect(config, `permission to delete the key of ${epoch}`);
    this.expect(
      await this.client.call('DELETE', this.path('keys', epoch)),
      `the deletion of the key of ${epoch}`,
    );
  }

  async list(): Promise<readonly string[]> {
    const answer = await this.client.call('GET', `${this.place.mount}/keys?list=true`);
    if (answer.status === 404) return [];
    this.expect(answer, 'the list of keys');
    const names = Array.isArray(answer.data['keys']) ? (answer.data['keys'] as unknown[]).map(String) : [];
    return names
      .filter((name) => name.startsWith(`${this.place.prefix}-`))
      .map((name) => name.slice(this.place.prefix.length + 1))
      .filter((name) => startOf(name) !== null)
      .sort();
  }

  async sealedBy(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  async reseal(): Promise<number> {
    // Nothing here is sealed with ENCRYPTION_KEYS.
    return 0;
  }

  /** Making an existing key again changes nothing. */
  private async create(name: string): Promise<void> {
    const answer = await this.client.call('POST', this.path('keys', name), {
      type: KEY_TYPE,
      exportable: false,
      allow_plaintext_backup: false,
    });
    this.expect(answer, `the key ${name}`);
  }

  private async exists(name: string): Promise<boolean> {
    const answer = await this.client.call('GET', this.path('keys', name));
    if (answer.status === 404) return false;
    this.expect(answer, `the key ${name}`);
    return true;
  }

  private path(what: string, name: string): string {
    if (startOf(name.replace(DESTROYED, '')) === null)
      throw new TypeError(`${name} is not the name of an epoch`);
    return `${this.place.mount}/${what}/${this.place.prefix}-${name}`;
  }

  private expect(answer: VaultAnswer, what: string): void {
    if (answer.status < 200 || answer.status > 299) throw this.refused(answer, what);
  }

  private refused({ status, errors }: VaultAnswer, what: string): KeysUnavailable {
    return new KeysUnavailable(`The KMS refuses ${what} with ${status}${errors && `: ${errors.trim()}`}`);
  }
}

const keyOf = ({ data }: VaultAnswer): Buffer => {
  const key = Buffer.from(typeof data['plaintext'] === 'string' ? data['plaintext'] : '', 'base64');
  if (key.length !== 32) throw new KeysUnavailable('The KMS returned something that is not a key');
  return key;
};
