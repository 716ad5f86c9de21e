import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';

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

type IsGenuine = (rawBody: Buffer, header: string, secret: string, now?: number) => boolean;

const { secrets, vectors } = JSON.parse(
  readFileSync(projectPath('libs/webhooks/test/signature-vectors.json'), 'utf8'),
) as Vectors;

const snippet = (): string => {
  const code = /\*\*Node\*\*\s+```js\n([\s\S]+?)```/.exec(
    readFileSync(projectPath('README.md'), 'utf8'),
  )?.[1];
  if (!code) throw new Error('The README has no snippet for Node');
  return code;
};

describe('the README’s verification in Node', () => {
  it('accepts every signature vector and refuses what was changed, delayed or signed with another secret', async () => {
    const module = (await import(`data:text/javascript,${encodeURIComponent(snippet())}`)) as {
      isGenuine: IsGenuine;
    };
    for (const { t, secrets: names, header, ...vector } of vectors) {
      const body = Buffer.from(vector.body ?? Buffer.from(vector.bodyBase64 ?? '', 'base64'));
      for (const name of names) expect(module.isGenuine(body, header, secrets[name]!, t + 300)).toBe(true);
      const secret = secrets[names[0]!]!;
      expect(module.isGenuine(body, header, secret, t + 301)).toBe(false);
      expect(module.isGenuine(body, header, secret, t - 301)).toBe(false);
      expect(module.isGenuine(Buffer.concat([body, Buffer.from(' ')]), header, secret, t)).toBe(false);
      expect(module.isGenuine(body, header, 'whsec_other', t)).toBe(false);
      expect(module.isGenuine(body, '', secret, t)).toBe(false);
    }
  });
});
