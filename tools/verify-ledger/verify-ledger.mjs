#!/usr/bin/env node
/**
 * Verifies an export of a credit ledger from the file alone: hash chain, revisions, double entry, balances, grants,
 * holds, closed months, totals; and a signed seal when one is given. Needs Node 20 or newer and the other
 * files of this folder, nothing else: it shares no code with the service that wrote the export.
 *
 *   node verify-ledger.mjs EXPORT.jsonl [--seal SEAL.json --public-key KEY.pem] [--json]
 *
 * Exit code 0 when nothing was found, 1 on any finding or when a file cannot be read.
 */
import { createPublicKey } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { ACCOUNTS } from './values.mjs';
import { Verifier } from './verifier.mjs';

const describe = (result) => {
  const { workspaceId, events, postings, headHash, balances, firstRevision, firstBadRevision } = result;
  if (!result.ok) {
    const lines = result.findings.map(({ revision, message }) => `  revision ${revision}: ${message}`);
    return [`${workspaceId}: first bad revision ${firstBadRevision}`, ...lines].join('\n');
  }
  return [
    `${workspaceId}: ${events} events and ${postings} postings are right; head hash ${headHash}`,
    ...ACCOUNTS.map((account) => `  ${account.padEnd(12)} ${String(balances[account]).padStart(10)}`),
    ...result.quarantined.map((entry) => `  passed over: ${entry}`),
    ...(result.sealedPeriod ? [`  as sealed for ${result.sealedPeriod}`] : ['  no seal was checked']),
    ...(firstRevision === '0' ? [] : [`  what is before revision ${firstRevision} is not in this export`]),
  ].join('\n');
};

const run = async () => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seal: { type: 'string' },
      'public-key': { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const usage = 'Usage: verify-ledger.mjs EXPORT.jsonl [--seal SEAL.json --public-key KEY.pem] [--json]';
  if (values.help) return console.log(usage);
  if (positionals.length !== 1) throw new Error(usage);
  if ((values.seal === undefined) !== (values['public-key'] === undefined)) {
    throw new Error('A seal is checked against a public key: give both --seal and --public-key.');
  }
  const seal = values.seal && JSON.parse(readFileSync(values.seal, 'utf8'));
  const publicKey = seal && createPublicKey(readFileSync(values['public-key']));
  const verifier = new Verifier();
  let number = 0;
  const input = createReadStream(positionals[0]);
  await new Promise((resolve, reject) => input.once('open', resolve).once('error', reject));
  for await (const text of createInterface({ input, crlfDelay: Infinity }))
    verifier.line(text, (number += 1));
  if (seal && verifier.header) verifier.seal(seal, publicKey);
  const result = verifier.result(seal);
  console.log(values.json ? JSON.stringify(result) : describe(result));
  if (!result.ok) process.exitCode = 1;
};

try {
  await run();
} catch (error) {
  console.error(error.code === 'ENOENT' ? `There is no file ${error.path}.` : error.message);
  process.exitCode = 1;
}
