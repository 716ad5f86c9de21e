import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '#platform/project-path.js';

interface Vectors {
  readonly secrets: Readonly<Record<string, string>>;
  readonly vectors: readonly {
    readonly id: string;
    readonly t: number;
    readonly secrets: readonly string[];
    readonly body?: string;
    readonly bodyBase64?: string;
    readonly header: string;
  }[];
}

interface Case {
  readonly what: string;
  readonly body: Buffer;
  readonly header: string;
  readonly secret: string;
  readonly now: number;
  readonly genuine: boolean;
}

const { secrets, vectors } = JSON.parse(
  readFileSync(projectPath('libs/webhooks/test/signature-vectors.json'), 'utf8'),
) as Vectors;

const signedWithNothing = (t: number, body: Buffer): string =>
  `t=${t},v1=${createHmac('sha256', '').update(`${t}.`).update(body).digest('hex')}`;

const cases: readonly Case[] = vectors.flatMap(({ id, t, secrets: names, header, ...vector }) => {
  const body = Buffer.from(vector.body ?? Buffer.from(vector.bodyBase64 ?? '', 'base64'));
  const sound = { body, header, secret: secrets[names[0]!]!, now: t };
  const altered = (what: string, changes: Partial<Case>): Case => ({
    what: `${id} ${what}`,
    ...sound,
    genuine: false,
    ...changes,
  });
  return [
    ...names.map((name) => altered(`with ${name}`, { secret: secrets[name]!, now: t + 300, genuine: true })),
    altered('five minutes early', { now: t - 300, genuine: true }),
    altered('too late', { now: t + 301 }),
    altered('too early', { now: t - 301 }),
    altered('with a byte more', { body: Buffer.concat([body, Buffer.from(' ')]) }),
    altered('without its last byte', { body: body.subarray(0, -1) }),
    altered('with another secret', { secret: 'whsec_other' }),
    altered('with an empty secret, which anybody has', { secret: '', header: signedWithNothing(t, body) }),
    altered('without a signature', { header: `t=${t}` }),
    altered('without a header', { header: '' }),
    ...[
      'garbage',
      't=²,v1=00',
      `t=${t},v1`,
      `t=${t},v1=é`,
      `t=${'9'.repeat(5_000)},v1=00`,
      `t=${t},v1=${'0'.repeat(64)}`,
    ].map((hostile) => altered(`with the header ${hostile.slice(0, 20)}`, { header: hostile })),
  ];
});

const snippet = (language: string): string => {
  const page = readFileSync(projectPath('docs/webhooks.md'), 'utf8');
  const section = page.slice(page.indexOf('## Verification'), page.indexOf('## Responding'));
  const code = new RegExp(`\`\`\`${language}\\n([\\s\\S]+?)\`\`\``).exec(section)?.[1];
  if (!code) throw new Error(`docs/webhooks.md has no snippet in ${language}`);
  return code;
};

const folder = mkdtempSync(join(tmpdir(), 'webhooks-docs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const verdicts = (judge: (one: Case) => boolean): readonly [string, boolean][] =>
  cases.map((one) => [one.what, judge(one)]);
const expected = cases.map(({ what, genuine }) => [what, genuine]);

const has = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;
const opensslIs = has('sh', '-c', 'command -v openssl') ? '' : ' (skipped: openssl is not installed)';

describe('The verification that docs/webhooks.md shows', () => {
  it('in Node judges every case rightly', async () => {
    const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(snippet('js'))}`)) as {
      isGenuine: (rawBody: Buffer, header: string | undefined, secret: string, now: number) => boolean;
    };
    expect(verdicts(({ body, header, secret, now }) => isGenuine(body, header, secret, now))).toEqual(
      expected,
    );
    expect(isGenuine(Buffer.alloc(0), undefined, 'whsec_', 0)).toBe(false);
  });

  for (const [language, program, judging] of [
    [
      'python',
      'python3',
      (code: string) => `${code}
import base64, json, sys
assert is_genuine(b"", None, "whsec_") is False
print(json.dumps([is_genuine(base64.b64decode(c["body"]), c["header"], c["secret"], c["now"]) for c in json.load(sys.stdin)]))
`,
    ],
    [
      'php',
      'php',
      (code: string) => `<?php
${code}
assert(is_genuine('', null, 'whsec_') === false);
$cases = json_decode(stream_get_contents(STDIN), true);
echo json_encode(array_map(
  fn ($c) => is_genuine(base64_decode($c['body']), $c['header'], $c['secret'], $c['now']), $cases));
`,
    ],
  ] as const)
    (has(program, '--version') ? it : it.skip)(`in ${language} judges every case rightly`, () => {
      const file = join(folder, `verify-${language}`);
      writeFileSync(file, judging(snippet(language)));
      const input = JSON.stringify(cases.map((one) => ({ ...one, body: one.body.toString('base64') })));
      const { stdout, stderr } = spawnSync(program, [file], { input, encoding: 'utf8' });
      expect(stderr).toBe('');
      const judged = JSON.parse(stdout) as boolean[];
      expect(cases.map(({ what }, index) => [what, judged[index]])).toEqual(expected);
    });

  it.each([
    ['js', 'verify.mjs'],
    ['python', 'verify.py'],
    ['php', 'verify.php'],
  ])('in %s is the one that the portal shows', (language, file) => {
    const shown = readFileSync(projectPath('apps/portal/assets/verify', file), 'utf8');
    expect(shown.replace('<?php\n\n', '')).toBe(snippet(language));
  });

  (opensslIs ? it.skip : it)(`in a shell judges every case rightly${opensslIs}`, () => {
    writeFileSync(join(folder, 'verify.sh'), snippet('sh'));
    // The shell reads the clock of the machine. The test supplies the time instead.
    writeFileSync(join(folder, 'date'), '#!/bin/sh\necho "$NOW"\n', { mode: 0o755 });
    const judge = ({ body, header, secret, now }: Case): boolean => {
      writeFileSync(join(folder, 'body.json'), body);
      const { status, stderr } = spawnSync('sh', ['verify.sh'], {
        cwd: folder,
        env: {
          PATH: `${folder}:${process.env['PATH']}`,
          NOW: String(now),
          SIGNATURE: header,
          SIGNING_SECRET: secret,
        },
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return status === 0;
    };
    expect(verdicts(judge)).toEqual(expected);
    // A hash that could not be computed equals an empty signature.
    writeFileSync(join(folder, 'openssl'), '#!/bin/sh\nexit 127\n', { mode: 0o755 });
    const now = 1_775_000_000;
    const forged = {
      what: 'no hash',
      body: Buffer.from('{}'),
      header: `t=${now},v1=`,
      secret: 'whsec_x',
      now,
      genuine: false,
    };
    expect(judge(forged)).toBe(false);
  });
});
