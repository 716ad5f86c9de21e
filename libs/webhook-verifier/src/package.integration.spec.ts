import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { projectPath } from '../../platform/src/project-path.js';

const NAME = '@reading-service/webhook-verifier';
const source = projectPath('libs', 'webhook-verifier');
const secret = 'whsec_cGFja2FnZQ==';
const readme = readFileSync(join(source, 'README.md'), 'utf8');
const folder = mkdtempSync(join(tmpdir(), 'webhook-verifier-'));
const modules = join(folder, 'node_modules');

/** A project with the package as it would be published, and Express. */
beforeAll(() => {
  const installed = join(modules, NAME);
  mkdirSync(installed, { recursive: true });
  cpSync(join(source, 'package.json'), join(installed, 'package.json'));
  const tsc = projectPath('node_modules', 'typescript', 'bin', 'tsc');
  const project = join(source, 'tsconfig.package.json');
  const { status, stdout } = spawnSync(process.execPath, [
    tsc,
    '-p',
    project,
    '--outDir',
    join(installed, 'dist'),
  ]);
  expect([status, stdout.toString()]).toEqual([0, '']);
  symlinkSync(projectPath('node_modules', 'express'), join(modules, 'express'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const snippet = (title: string): string => {
  const code = new RegExp(`## ${title}\\s+\`\`\`js\\n([\\s\\S]+?)\`\`\``).exec(readme)?.[1];
  if (!code) throw new Error(`The README has no example for ${title}`);
  return code;
};

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

describe('The package', () => {
  it.each(['Express', 'Plain Node'])('works as shown in its README for %s', async (title) => {
    const file = join(folder, `${title.replace(' ', '-')}.mjs`);
    writeFileSync(file, snippet(title));
    const port = await freePort();
    const server: ChildProcess = spawn(process.execPath, [file], {
      env: { PORT: String(port), SIGNING_SECRET: secret, PATH: process.env['PATH'] },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let printed = '';
    for (const stream of [server.stdout!, server.stderr!])
      stream.on('data', (text: Buffer) => (printed += text.toString()));
    try {
      await once(server.stdout!, 'data');
      const body = JSON.stringify({
        id: 'evt_1',
        type: 'reading.published',
        data: { links: { document: '/d' } },
      });
      const t = Math.floor(Date.now() / 1_000);
      const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex');
      const post = (sent: string) =>
        fetch(`http://127.0.0.1:${port}/hook`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-service-signature': `t=${t},v1=${v1}` },
          body: sent,
        });
      expect((await post(body)).status).toBe(204);
      const forged = await post(body.replace('/d', '/e'));
      expect([forged.status, await forged.text()]).toEqual([400, 'no_matching_signature']);
      // Output and response take different routes, so the output may arrive later.
      while (!printed.includes('fetch /d')) await once(server.stdout!, 'data');
      expect(printed).not.toContain('fetch /e');
      // Strangers that break off, or never come to an end.
      const broken = connect(port, '127.0.0.1');
      broken.end(
        'POST /hook HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\ncontent-type: application/json\r\n\r\n{"a',
      );
      broken.resume();
      await once(broken, 'close');
      await post('x'.repeat(10_000_000)).then(
        ({ status }) => expect(status).toBeGreaterThanOrEqual(400),
        () => undefined,
      );
      expect((await post(body)).status).toBe(204);
      expect(server.exitCode).toBeNull();
    } finally {
      server.kill();
    }
  });
});
