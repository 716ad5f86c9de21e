import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { projectPath } from '#platform/project-path.js';

/** The script of Prism. `npm run test:contract-proxy` sets it. */
const PRISM = process.env['VALIDATING_PROXY'];
const READY_WITHIN_MS = 180_000;
const POLL_MS = 100;

export interface ValidatingProxy {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/**
 * Starts Prism in front of an API. It compares each request and each answer with docs/openapi.json, and adds what
 * differs as a header. @returns null without VALIDATING_PROXY: other runs check answers only
 */
export const startValidatingProxy = async (upstream: string): Promise<ValidatingProxy | null> => {
  if (PRISM === undefined) return null;
  const port = await freePort();
  const options = ['--cors=false', '-v', 'error', '-p', String(port)];
  const proxy = spawn(
    process.execPath,
    [PRISM, 'proxy', projectPath('docs/openapi.json'), upstream, ...options],
    { stdio: 'ignore', env: { PATH: process.env['PATH'] } },
  );
  const baseUrl = `http://127.0.0.1:${port}`;
  const until = Date.now() + READY_WITHIN_MS;
  while (!(await answers(`${baseUrl}/healthz`))) {
    if (proxy.exitCode !== null || Date.now() > until) throw new Error('Prism did not start');
    await sleep(POLL_MS);
  }
  return {
    baseUrl,
    stop: async () => {
      proxy.kill();
      if (proxy.exitCode === null) await once(proxy, 'exit');
    },
  };
};

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
};

/** The header in which Prism lists what differs from the document. */
const VIOLATIONS = 'sl-violations';

interface Violation {
  /** Begins with `request` or `response`. */
  readonly location: readonly (string | number)[];
  readonly message: string;
}

/** An item of a bulk: its answer tells its own refusal, and may still accept the others. */
const BULK_ITEM = /^request\.body\.readings\.\d+/;

/**
 * What Prism found in a request and its answer, and removes it from the headers. A request that the API refuses may
 * differ from the document, and so may an item of a bulk.
 */
export const violationsIn = (headers: Headers, status: number): readonly string[] => {
  const found = headers.get(VIOLATIONS) ?? '[]';
  headers.delete(VIOLATIONS);
  if (found.startsWith('Too many')) return status < 400 ? [found] : [];
  return (JSON.parse(found) as readonly Violation[])
    .map(({ location, message }) => ({ at: location.join('.'), message }))
    .filter(({ at }) => at.startsWith('response') || (status < 400 && !BULK_ITEM.test(at)))
    .map(({ at, message }) => `${at} ${message}`);
};
