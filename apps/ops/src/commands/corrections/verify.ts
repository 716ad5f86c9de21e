import type { Command } from 'commander';
import { VerifyCorrections, type CorrectionsReport } from '@app/billing/contracts/index.js';
import { describeCompensated } from '../../corrections/describe.js';
import { verifySignatureFile, type SignatureFileReport } from '../../corrections/signatures-file.js';
import { OpsError } from '../../ops-error.js';
import { print } from '../../output.js';
import { withProgress } from '../../progress.js';
import { withSession } from '../../session.js';

interface VerifyOptions {
  readonly root?: readonly string[];
  readonly file?: string;
  readonly sha256?: string;
  readonly book?: string;
}

/** @throws OpsError when a file is checked without root keys: its own are no proof */
const verifyFrom = async ({
  root,
  file,
  sha256,
}: VerifyOptions): Promise<CorrectionsReport & Partial<SignatureFileReport>> => {
  if (file === undefined && sha256 !== undefined) throw new OpsError('--sha256 is the hash of a --file.');
  if (file !== undefined && !root) throw new OpsError('Add --root with the digests that you know.');
  if (file !== undefined) return verifySignatureFile(file, root!, sha256);
  return withSession(({ queries, config }) =>
    withProgress('verify', (progress) =>
      queries.execute(new VerifyCorrections(root ?? config.OPERATOR_ROOT_KEYS, progress)),
    ),
  );
};

export const addVerify = (corrections: Command): void => {
  corrections
    .command('verify')
    .description(
      'check every signature in the log, and that two operators signed each correction; exit code 1 on any finding',
    )
    .option('--root <sha256...>', 'the root keys as you know them; default: OPERATOR_ROOT_KEYS')
    .option('--file <file>', 'of ops corrections export, without a connection')
    .option('--sha256 <hash>', 'of the file, as its export printed it: proves that no line is missing')
    .option('--book <workspace>', 'list what is found in this book only; statements are always checked')
    .addHelpText(
      'after',
      `
Examples:
  ops corrections verify --root 9f2c… 41ab…
  ops corrections verify --file corrections.jsonl --sha256 7be1… --root 9f2c… 41ab…
  ops corrections verify --book ws_…`,
    )
    .action(async (options: VerifyOptions, command: Command) => {
      const report = ofBook(await verifyFrom(options), options.book);
      const {
        missing = [],
        findings,
        corrections: count,
        signedEntries,
        documentRefunds,
        earlierEntries,
        quarantined,
        compensated,
      } = report;
      print(
        command,
        { ok: findings.length + missing.length === 0, ...report },
        [
          `${count} corrections; ${signedEntries} entries signed by two operators, ${documentRefunds} for documents that were given up, ${earlierEntries} from before there were operators; ${quarantined} events were quarantined.`,
          ...missing.map((sentence) => `Missing: ${sentence}`),
          ...findings.map(({ stream, revision, message }) => `${stream} revision ${revision}: ${message}`),
          ...compensated.map(describeCompensated),
        ].join('\n'),
      );
      if (findings.length + missing.length > 0) process.exitCode = 1;
    });
};

/** Without what is found in other books. */
const ofBook = <Report extends CorrectionsReport>(
  report: Report,
  workspaceId: string | undefined,
): Report => {
  if (workspaceId === undefined) return report;
  const isOwn = ({ stream }: { readonly stream: string }): boolean =>
    !stream.startsWith('credits-') || stream === `credits-${workspaceId}`;
  return {
    ...report,
    findings: report.findings.filter(isOwn),
    compensated: report.compensated.filter(isOwn),
  };
};
