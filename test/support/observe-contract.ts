import { assertContract } from './api-contract.js';

const observed = new Set<string>();
const faults: Error[] = [];
let installed = false;

/**
 * From now on every answer that `fetch` gets from the API at this address is held against docs/openapi.json: one that
 * differs fails the call, and, should the test swallow that, `assertObserved`.
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
  // The connection ended in the middle: what the test makes of it is its own affair.
  if (body === null) return;
  try {
    assertContract({
      method,
      target: pathname + search,
      status: response.status,
      headers: response.headers,
      body: new Uint8Array(body),
    });
  } catch (error) {
    faults.push(error as Error);
    throw error;
  }
};

/** @throws the first fault seen so far */
export const assertObserved = (): void => {
  const [first] = faults.splice(0);
  if (first) throw first;
};
