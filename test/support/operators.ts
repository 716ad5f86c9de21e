import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Correction } from '@app/billing/contracts/index.js';
import { keyDigest, publicKeyOf } from '@app/billing/offline.js';
import type { OpsAnswer } from './companion-server.js';
import type { StartedStack } from './start-stack.js';

/** A person with a key of their own, who runs `ops`. */
export class Operator {
  readonly keyFile: string;
  readonly publicKeyFile: string;
  readonly digest: string;

  constructor(
    private readonly stack: Pick<StartedStack, 'runOps' | 'dataDir'>,
    readonly name: string,
    readonly settings: Record<string, string> = {},
  ) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const pem = (key: KeyObject, type: 'pkcs8' | 'spki'): string =>
      key.export({ type, format: 'pem' }).toString();
    this.keyFile = join(stack.dataDir, `${name}-private.pem`);
    this.publicKeyFile = join(stack.dataDir, `${name}-public.pem`);
    writeFileSync(this.keyFile, pem(privateKey, 'pkcs8'), { mode: 0o600 });
    writeFileSync(this.publicKeyFile, pem(publicKey, 'spki'));
    this.digest = keyDigest(publicKeyOf(privateKey));
  }

  /** Runs `ops <args>` as this person. */
  run(args: readonly string[], settings: Record<string, string> = {}): Promise<OpsAnswer> {
    return this.stack.runOps(args, { OPERATOR_KEY_FILE: this.keyFile, ...this.settings, ...settings });
  }

  /** Runs `ops <args> --json`. @returns its output @throws Error with the command's message when it fails */
  async ops<T = Record<string, never>>(
    args: readonly string[],
    settings: Record<string, string> = {},
  ): Promise<T> {
    const { code, stdout, stderr } = await this.run([...args, '--json'], settings);
    if (code === 0) return JSON.parse(stdout) as T;
    throw new Error(`ops ${args.join(' ')}: ${stderr}${stdout}`);
  }
}

type Signed = Pick<Correction, 'correctionId' | 'proposal'>;
interface Proposed {
  readonly proposal?: { readonly correction: Signed } | null;
  readonly correction?: Signed;
}

/** The command that approves this proposal, and no other. */
export const approval = ({ correctionId, proposal }: Signed): string[] => [
  ...['corrections', 'approve', correctionId, '--proposal', proposal, '--yes'],
];

/** The first two operators of a stack, whose keys its configuration names. */
export const twoOperators = async (stack: Pick<StartedStack, 'runOps' | 'dataDir'>) => {
  const settings: Record<string, string> = {};
  const [ada, grace] = [new Operator(stack, 'ada', settings), new Operator(stack, 'grace', settings)];
  settings['OPERATOR_ROOT_KEYS'] = `${ada.digest},${grace.digest}`;
  for (const one of [ada, grace]) await one.ops(['operators', 'add', '--name', one.name]);
  return {
    ada,
    grace,
    settings,
    /** Ada proposes with this command, and Grace approves. @returns what the approval printed */
    async correct(args: readonly string[]): Promise<Record<string, unknown>> {
      const { proposal, correction } = await ada.ops<Proposed>(args);
      const proposed = correction ?? proposal!.correction;
      return grace.ops(approval(proposed));
    },
  };
};
