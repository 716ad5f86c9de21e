import { InvalidArgumentError, Option, type Command } from 'commander';
import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GetOperatorRegister,
  OPERATOR_ROLES,
  RecordOperatorChange,
  type OperatorKey,
  type OperatorRefusal,
  type OperatorRegister,
  type OperatorRole,
  type OperatorsEvent,
  type OperatorsEventOf,
} from '@app/billing/contracts/index.js';
import { keyDigest, publicKeyOf, readPublicKey } from '@app/billing/offline.js';
import { KEY_OPTION, operatorKey, signerNamed, signerOf } from '../corrections/operator-key.js';
import { writeNewFiles } from '../new-file.js';
import { OpsError } from '../ops-error.js';
import { print, table } from '../output.js';
import { HARMLESS_TO_REPEAT, withSession, type Session } from '../session.js';
import { onFile } from './ledger/seal.js';
import { someText, wholeNumber } from './options.js';

/** The people who may correct the ledger, and their keys. */
export const addOperatorsCommands = (operators: Command): void => {
  for (const add of [addKeygen, addAdd, addConfirm, addRevoke, addRotate, addList]) add(operators);
};

const addKeygen = (operators: Command): void => {
  operators
    .command('keygen')
    .description(
      'make your key pair: operator-private.pem stays with you, operator-public.pem is for the register',
    )
    .requiredOption('--out <dir>', 'a folder of your own, made if it is missing')
    .addHelpText('after', '\nExample:\n  ops operators keygen --out ~/.keys')
    .action(async ({ out }: { out: string }, command: Command) => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const files = {
        privateKey: join(out, 'operator-private.pem'),
        publicKey: join(out, 'operator-public.pem'),
      };
      const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
      const shown = publicKey.export({ type: 'spki', format: 'pem' }).toString();
      await writeNewFiles([
        { path: files.privateKey, text: pem, isPublic: false },
        { path: files.publicKey, text: shown, isPublic: true },
      ]);
      const keySha256 = keyDigest(publicKeyOf(privateKey));
      print(
        command,
        { ...files, keySha256 },
        `Wrote ${files.privateKey} and ${files.publicKey}\nDigest ${keySha256}`,
      );
    });
};

interface AddOptions {
  readonly name: string;
  readonly publicKey?: string;
  readonly role: readonly OperatorRole[];
  readonly maxCredits?: number;
  readonly key?: string;
}

const addAdd = (operators: Command): void => {
  operators
    .command('add')
    .description('add an operator: yourself with a root key, or somebody whom another operator then confirms')
    .requiredOption('--name <name>', 'the person: a-z, digits, dot, hyphen, underscore', parseName)
    .option(
      '--public-key <file>',
      'of the person you add; without it you add yourself, with a key of OPERATOR_ROOT_KEYS',
    )
    .addOption(
      new Option('--role <role...>', 'what they may sign')
        .choices(OPERATOR_ROLES)
        .default([...OPERATOR_ROLES]),
    )
    .option('--max-credits <credits>', 'most credits of a correction that they may sign', wholeNumber)
    .option(...KEY_OPTION)
    .addHelpText(
      'after',
      `
Examples:
  OPERATOR_ROOT_KEYS=9f2c…,41ab… ops operators add --name ada --key ~/.keys/operator-private.pem
  ops operators add --name lin --public-key lin-public.pem --role propose --max-credits 500`,
    )
    .action(async (options: AddOptions, command: Command) => {
      const { name, publicKey, role, maxCredits = null } = options;
      await changed(command, async (session, { head }) => {
        const own = publicKey === undefined ? operatorKey(session, options.key) : null;
        const signer = own ? signerNamed(session, own, name) : await signerOf(session, options.key);
        const data = {
          operator: name,
          publicKey: own ? publicKeyOf(own) : readPublic(publicKey!),
          roles: [...role],
          maxCredits,
          previous: head,
        };
        return signer.sign<OperatorsEventOf<'OperatorAdded'>>({ type: 'OperatorAdded', data });
      });
    });
};

const addConfirm = (operators: Command): void => {
  operators
    .command('confirm <name>')
    .description('confirm an operator whom another one added; from then on their key counts')
    .requiredOption('--digest <sha256>', 'of their key, as they told you themselves')
    .option(...KEY_OPTION)
    .addHelpText('after', '\nExample:\n  ops operators confirm lin --digest 41ab…')
    .action(async (operator: string, { digest, key }: { digest: string; key?: string }, command: Command) => {
      await changed(command, async (session, { head: previous }) => {
        const signer = await signerOf(session, key);
        const data = { operator, keySha256: digest.toLowerCase(), previous };
        return signer.sign<OperatorsEventOf<'OperatorConfirmed'>>({ type: 'OperatorConfirmed', data });
      });
    });
};

const addRevoke = (operators: Command): void => {
  operators
    .command('revoke <name>')
    .description('end the trust in an operator’s key at once; what it signed before stays')
    .requiredOption('--reason <text>', 'why; kept in the register', someText)
    .option(...KEY_OPTION)
    .addHelpText('after', '\nExample:\n  ops operators revoke lin --reason "laptop stolen"')
    .action(async (operator: string, { reason, key }: { reason: string; key?: string }, command: Command) => {
      await changed(command, async (session, { keys, head: previous }) => {
        const theirs = keys.filter((one) => one.operator === operator);
        const last =
          theirs.findLast(({ status }) => status === 'active' || status === 'pending') ?? theirs.at(-1);
        if (!last) throw new OpsError(`There is no operator ${operator}.`);
        const signer = await signerOf(session, key);
        const data = { operator, keySha256: last.keySha256, reason, previous };
        return signer.sign<OperatorsEventOf<'OperatorRevoked'>>({ type: 'OperatorRevoked', data });
      });
    });
};

const addRotate = (operators: Command): void => {
  operators
    .command('rotate')
    .description('replace your key: the old one signs the new one, and ends')
    .requiredOption('--public-key <file>', 'the new one')
    .option(...KEY_OPTION)
    .addHelpText(
      'after',
      '\nExample:\n  ops operators rotate --public-key new/operator-public.pem --key old/operator-private.pem',
    )
    .action(async ({ publicKey, key }: { publicKey: string; key?: string }, command: Command) => {
      await changed(command, async (session, { head: previous }) => {
        const signer = await signerOf(session, key);
        const keySha256 = keyDigest(publicKeyOf(operatorKey(session, key)));
        const data = { operator: signer.operator, keySha256, publicKey: readPublic(publicKey), previous };
        return signer.sign<OperatorsEventOf<'OperatorKeyRotated'>>({ type: 'OperatorKeyRotated', data });
      });
    });
};

/** Signs a statement for the register as it stands, records it, and prints the key that it is about. */
const changed = async (
  command: Command,
  sign: (session: Session, register: OperatorRegister) => Promise<OperatorsEvent>,
): Promise<void> => {
  const result = await withSession(async (session) => {
    const change = await sign(session, await session.queries.execute(new GetOperatorRegister()));
    return session.commands.execute(new RecordOperatorChange(change, session.by()));
  }, HARMLESS_TO_REPEAT);
  if (result.outcome === 'refused') throw new OpsError(`${REFUSALS[result.why]}. Nothing changed.`);
  const { operator, status, keySha256 } = result.key;
  const waits = status === 'pending' ? ': another operator confirms it with ops operators confirm' : '';
  print(command, result, `The key of ${operator} (${keySha256}) is ${status}${waits}.`);
};

const REFUSALS: Readonly<Record<OperatorRefusal, string>> = {
  not_a_root_key: 'OPERATOR_ROOT_KEYS does not name this key',
  already_operator: 'This person has a key already: rotate it, or revoke it first',
  key_in_use: 'The register knows this key already: make a new one',
  unknown_key: 'The register has no such key of this person',
  not_trusted: 'You may not sign this: your key is not trusted, or lacks the role manage',
  same_person: 'Two others must sign for an operator: not the person, and not the same one twice',
  stale: 'The register has changed meanwhile: repeat the command',
  bad_signature: 'The signature does not fit',
};

const parseName = (text: string): string => {
  if (!/^[a-z0-9][a-z0-9._-]{0,39}$/.test(text))
    throw new InvalidArgumentError('must be a name such as ada or ada.lovelace');
  return text;
};

/** @throws OpsError */
const readPublic = (path: string): string => {
  const key = readPublicKey(onFile(path, () => readFileSync(path, 'utf8')));
  if (key === null) throw new OpsError(`${path} has no Ed25519 public key: ops operators keygen makes one.`);
  return key;
};

const addList = (operators: Command): void => {
  operators
    .command('list')
    .description('all keys of the register, with their digests')
    .addHelpText('after', '\nExample:\n  ops operators list')
    .action(async (_: object, command: Command) => {
      const register = await withSession(({ queries }) => queries.execute(new GetOperatorRegister()));
      const { keys } = register;
      print(command, { operators: keys }, keys.length === 0 ? NONE : list(keys));
    });
};

const NONE = 'There are no operators yet: docs/finance.md says how the first two are made.';

const list = (keys: readonly OperatorKey[]): string =>
  table(
    ['operator', 'status', 'roles', 'max credits', 'added by', 'since', 'until', 'key'],
    keys.map((one) => [
      one.operator,
      one.status,
      one.roles.join(' '),
      one.maxCredits ?? '',
      one.addedBy ?? 'root key',
      one.addedAt,
      one.endedAt ?? '',
      one.keySha256,
    ]),
  );
