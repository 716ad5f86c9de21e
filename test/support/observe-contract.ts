import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { SeenAnswer } from './api-contract.js';

const observed = new Set<string>();
const faults: Error[] = [];
/** Checks under way. */
const checks = new Set<Promise<void>>();
let installed = false;

/**
 * From now on, checks every answer of `fetch` from the API at this address against docs/openapi.json. A difference fails
 * the call, and also `assertObserved`, in case the test swallows the error.
 */
export const observeContract = (baseUrl: string): void => {
  observed.add(baseUrl);
  if (installed) return;
  installed = true;
  const plain = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const response = await plain(input, init);
    const url = new URL(input instanceof Request ? input.url : input);
    if (observed.has(url.origin)) await check(response.clone(), url, init?.method ?? 'GET');
    return response;
  };
};

const check = async (response: Response, { pathname, search }: URL, method: string): Promise<void> => {
  const body = await response.arrayBuffer().catch(() => null);
  // The connection ended in the middle of the answer. The test itself judges that.
  if (body === null) return;
  const { status, headers } = response;
  await hold({ method, target: pathname + search, status, headers, body: new Uint8Array(body) });
};

const hold = async (answer: SeenAnswer): Promise<void> => {
  // Many specs load this file, and few of them call the API.
  const { assertContract } = await import('./api-contract.js');
  try {
    assertContract(answer);
  } catch (error) {
    faults.push(error as Error);
    throw error;
  }
};

/**
 * Checks all answers on the server's side, for any client of a test. `assertObserved` reports the differences.
 */
export const observeServer = (server: Server): void => {
  // Registered before the listener that answers.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const target = request.url ?? '/';
    const body: Buffer[] = [];
    const keep = (chunk: unknown): void => {
      if (typeof chunk === 'string' || chunk instanceof Uint8Array) body.push(Buffer.from(chunk));
    };
    const { write, end } = response;
    response.write = function (this: ServerResponse, ...parts: unknown[]) {
      keep(parts[0]);
      return Reflect.apply(write, this, parts);
    } as typeof write;
    response.end = function (this: ServerResponse, ...parts: unknown[]) {
      keep(parts[0]);
      return Reflect.apply(end, this, parts);
    } as typeof end;
    response.once('finish', () => {
      const headers = new Headers();
      for (const [name, value] of Object.entries(response.getHeaders()))
        for (const one of [value].flat()) headers.append(name, String(one));
      const { method = 'GET' } = request;
      const isBare = method === 'HEAD' || response.statusCode === 304;
      const check = hold({
        method,
        target,
        status: response.statusCode,
        headers,
        body: isBare ? new Uint8Array() : Buffer.concat(body),
      }).catch(() => undefined);
      checks.add(check);
      void check.then(() => checks.delete(check));
    });
  });
};

/** @throws the first fault seen so far */
export const assertObserved = async (): Promise<void> => {
  await Promise.all(checks);
  const [first] = faults.splice(0);
  if (first) throw first;
};
