import type { OperatorCommand } from '../command-line.js';
import { backUpFolder } from './backup.js';
import { describeFolder } from './info.js';
import { progressTo } from './progress.js';
import { verifyApart, VERIFYING } from './verify-apart.js';
import { verifyFolder, type Verification } from './verify.js';

/** The result of a command: text for people, values for programs, and the number of findings. */
interface Report {
  readonly text: string;
  readonly values: object;
  readonly findings: number;
}

const verified = (verification: Verification, what: string): Report => {
  const { events, streams, findings, listed } = verification;
  const summary = `${what}: ${String(events)} events in ${String(streams)} streams, ${String(findings)} findings.`;
  return { text: [summary, ...listed].join('\n'), values: verification, findings };
};

const execute = async (command: OperatorCommand, say: (line: string) => void): Promise<Report> => {
  const progress = progressTo(say, command.kind);
  switch (command.kind) {
    case 'verify':
      return verified(
        process.env[VERIFYING] === undefined
          ? await verifyApart(process.argv[1]!, command.data, say)
          : await verifyFolder(command.data, progress),
        'Verified',
      );
    case 'backup':
      return verified(await backUpFolder(command.data, command.to, progress), `Backed up to ${command.to}`);
    case 'info': {
      const info = await describeFolder(command.data);
      const lines = Object.entries(info).map(([name, value]) => `${name}: ${String(value ?? '-')}`);
      return { text: lines.join('\n'), values: info, findings: 0 };
    }
  }
};

/** Runs an operator command. @returns the exit status: 1 if it has findings */
export const runOperatorCommand = async (
  command: OperatorCommand,
  out: (line: string) => void,
  say: (line: string) => void,
): Promise<number> => {
  const { text, values, findings } = await execute(command, say);
  out(command.json ? JSON.stringify(values) : text);
  return findings > 0 ? 1 : 0;
};
