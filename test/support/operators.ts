import { join } from 'node:path';
import type { Correction } from '#billing/contracts/index.js';
import type { OpsAnswer } from './companion-server.js';
import type { StartedStack } from './start-stack.js';

/** One of the two operators of an embedded stack, who runs `ops`. */
export class Operator {
  constructor(
    private readonly stack: Pick<StartedStack, 'runOps'>,
    readonly keyFile: string,
  ) {}

  /** Runs `ops <args>` as this person. */
  run(args: readonly string[], settings: Record<string, string> = {}): Promise<OpsAnswer> {
    return this.stack.runOps(args, { OPERATOR_KEY_FILE: this.keyFile, ...settings });
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

type Named = Pick<Correction, 'correctionId'>;
interface Proposed {
  readonly proposal?: { readonly correction: Named } | null;
  readonly correction?: Named;
}

/** The command that approves this proposal. */
export const approval = ({ correctionId }: Named): string[] => [
  ...['corrections', 'approve', correctionId, '--yes'],
];

/** The two operators whose keys an embedded stack has made. */
export const twoOperators = (stack: Pick<StartedStack, 'runOps' | 'dataDir'>) => {
  const [ada, grace] = ['ada', 'grace'].map(
    (name) => new Operator(stack, join(stack.dataDir, 'operators', `${name}.pem`)),
  ) as [Operator, Operator];
  return {
    ada,
    grace,
    /** Ada proposes with this command, and Grace approves. @returns what the approval printed */
    async correct(args: readonly string[]): Promise<Record<string, unknown>> {
      const { proposal, correction } = await ada.ops<Proposed>(args);
      const proposed = correction ?? proposal!.correction;
      return grace.ops(approval(proposed));
    },
  };
};
