import { readFileSync, statSync } from 'node:fs';
import type { KeyObject } from 'node:crypto';
import { instant } from '@app/event-sourcing/core/clock.js';
import { GetOperatorRegister, type Signed } from '@app/billing/contracts/index.js';
import { keyDigest, publicKeyOf, readSealKey, signStatement } from '@app/billing/offline.js';
import { OpsError } from '../ops-error.js';
import type { Session } from '../session.js';

/** Permissions of anyone but the owner. */
const OTHERS = 0o077;

/** For commands that sign. */
export const KEY_OPTION = ['--key <file>', 'your private key; default: OPERATOR_KEY_FILE'] as const;

/** @throws OpsError unless the file has an Ed25519 private key that only its owner can read */
export const readOperatorKey = (path: string): KeyObject => {
  let text: string;
  try {
    if ((statSync(path).mode & OTHERS) !== 0)
      throw new OpsError(`Others can read ${path}: run chmod 600 ${path}. Nothing was signed.`);
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof OpsError) throw error;
    throw new OpsError(`The key ${path} cannot be read: ${(error as Error).message}.`);
  }
  const key = readSealKey(text);
  if (!key) throw new OpsError(`${path} has no Ed25519 private key: ops operators keygen makes one.`);
  return key;
};

/** An operator with their key: signs statements with the trusted time. */
export interface Signer {
  readonly operator: string;
  readonly sign: <T extends { readonly type: string; readonly data: Signed }>(statement: {
    readonly type: T['type'];
    readonly data: Omit<T['data'], keyof Signed>;
  }) => Promise<T>;
}

/** @throws OpsError when no file is named */
export const operatorKey = ({ config }: Pick<Session, 'config'>, file: string | undefined): KeyObject => {
  const path = file ?? config.OPERATOR_KEY_FILE;
  if (path === undefined)
    throw new OpsError('This needs an operator’s signature: set OPERATOR_KEY_FILE, or add --key <file>.');
  return readOperatorKey(path);
};

export const signerNamed = ({ time }: Pick<Session, 'time'>, key: KeyObject, operator: string): Signer => ({
  operator,
  sign: async (statement) => signStatement(statement, operator, key, instant(await time.now())),
});

/** The operator whose key it is. @throws OpsError when the register does not know the key */
export const signerOf = async (session: Session, file: string | undefined): Promise<Signer> => {
  const key = operatorKey(session, file);
  const digest = keyDigest(publicKeyOf(key));
  const { keys } = await session.queries.execute(new GetOperatorRegister());
  const own = keys.find(({ keySha256 }) => keySha256 === digest);
  if (!own)
    throw new OpsError(`The key ${digest} is no operator’s: ops operators list shows them. Nothing changed.`);
  if (own.status !== 'active')
    throw new OpsError(`The key of ${own.operator} is ${own.status}. Nothing changed.`);
  return signerNamed(session, key, own.operator);
};
