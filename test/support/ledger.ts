import type { OpsAnswer } from './companion-server.js';
import type { Stack } from './start-stack.js';

/** Finance's commands on a stack: `ledger` returns the printed text, `json` the output of `--json` and the exit code. */
export const ledgerOf = (stack: () => Stack) => {
  const ledger = (...args: string[]): Promise<OpsAnswer> => stack().runOps(['ledger', ...args]);
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await ledger(...args, '--json');
    if (stdout === '')
      throw new Error(`ledger ${args.join(' ')} ended with ${code} and printed nothing: ${stderr}`);
    return { code, ...JSON.parse(stdout) };
  };
  return { ledger, json };
};
