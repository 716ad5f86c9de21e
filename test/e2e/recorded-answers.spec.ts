import { expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectPath } from '#platform/project-path.js';
import { Integrator, until, untilServed } from '../support/integrator.js';
import { fixture, sharedStack, startReceiver } from '../support/index.js';
import { EXAMPLES_FILE, readExamples } from '../../apps/api/src/openapi.js';
import { askForExamples, shownAnswer, unsharedMembers, type Ask } from './recorded-answers/examples.js';
import { Names, plainAnswer, shapeOf } from './recorded-answers/plain-answer.js';
import { makeRequests, type Call, type Credential } from './recorded-answers/requests.js';

/** RECORDED_ANSWERS=write rewrites the file, for an intended change of an answer. */
const isWriting = process.env['RECORDED_ANSWERS'] === 'write';
const path = projectPath('test/golden/api-answers.json');

const SCOPES = 'readings:write keys:read keys:write credits:read webhooks:read webhooks:write';

const stack = fixture(sharedStack);
const receiver = fixture(startReceiver);

type Credentials = Readonly<Record<Credential, Record<string, string>>>;

const credentialsOf = async (customer: Integrator): Promise<Credentials> => {
  const host = await customer.withKey('--scopes', 'portal:write,readings:read,documents:read');
  return {
    key: { 'x-api-key': customer.apiKey },
    owner: { ...(await customer.bearer(SCOPES)) },
    host: { 'x-api-key': host.apiKey },
    nobody: {},
  };
};

/** Sends a request, again while a busy service says "not yet". @returns the answer, and its body */
const sent = async (method: string, path: string, credential: Record<string, string>, body?: object) => {
  const response = await untilServed(() =>
    fetch(stack.baseUrl + path, {
      method,
      headers: { ...(body && { 'content-type': 'application/json' }), ...credential },
      ...(body && { body: JSON.stringify(body) }),
    }),
  );
  return { response, json: JSON.parse((await response.text()) || '{}') as Record<string, unknown> };
};

/**
 * The headers of an answer that has the limit's in the recording. On a busy machine the limiter lets a request pass without
 * them, and the API says so in its log.
 */
const withLimit = async (headers: Headers): Promise<Headers> => {
  if (headers.has('ratelimit-policy')) return headers;
  const requestId = headers.get('x-request-id')!;
  const log = () => readFileSync(join(stack.dataDir, 'logs', 'api.log'), 'utf8').split('\n');
  await until(
    () =>
      log().some((line) => line.includes(requestId) && line.includes('the rate limit could not be asked')),
    () => `the log says why the answer to ${requestId} has no rate limit`,
    10_000,
  );
  return new Headers([...headers, ['ratelimit-policy', 'let pass']]);
};

/** Paths and URLs of the service, at any depth. */
const linksIn = (value: unknown): readonly string[] => {
  if (typeof value === 'string')
    return /^(https?:\/\/127\.|\/(api|d|docs|portal)\/)/.test(value) && value !== receiver.url ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(linksIn) : [];
};

it('answers as recorded, except for ids, times and human-readable texts', async () => {
  const names = new Names();
  const customer = await Integrator.open(stack, 20);
  const credentials = await credentialsOf(customer);
  names.add(receiver.url, 'receiver');
  names.add(stack.baseUrl, 'api');
  const answers: Record<string, unknown> = {};
  const golden = readFileSync(path, 'utf8');
  const before = JSON.parse(golden) as Record<string, { readonly headers: Record<string, string> }>;
  const call: Call = async (name, method, target, { as = 'key', body, headers: own, shape = false } = {}) => {
    const { response, json } = await sent(method, `/api/v1${target}`, { ...credentials[as], ...own }, body);
    const isLimited = before[name]?.headers['ratelimit-policy'] !== undefined;
    const headers = isLimited ? await withLimit(response.headers) : response.headers;
    const answer = { status: response.status, headers, body: json };
    answers[name] = plainAnswer(shape ? { ...answer, body: shapeOf(json) } : answer, names);
    return answer;
  };
  await makeRequests(call, customer, receiver.url);
  const lines = Object.entries(answers).map((entry) => entry.map((part) => JSON.stringify(part)).join(': '));
  const recorded = `{\n${lines.join(',\n')}\n}\n`;
  if (isWriting) return writeFileSync(path, recorded);
  expect(answers).toEqual(before);
  // Compares the order of members too.
  expect(recorded).toBe(golden);
});

it('answers with the members that the examples of its OpenAPI document show, and with links that lead somewhere', async () => {
  const customer = await Integrator.open(stack, 40);
  const credentials = await credentialsOf(customer);
  const answers: Record<string, Record<string, unknown>> = {};
  const links = new Set<string>();
  const ask: Ask = async (operation, { of = [], query = '', body, as = 'key' } = {}) => {
    const [method, template] = operation.split(' ') as [string, string];
    const values = [...of];
    const path = template.replaceAll(/\{\w+\}/g, () => String(values.shift()));
    const { response, json: answer } = await sent(method, path + query, credentials[as], body);
    expect({ operation, ok: response.ok, ...(!response.ok && answer) }).toEqual({ operation, ok: true });
    if (operation === 'POST /api/v1/webhooks') receiver.secret = String(answer['signingSecret']);
    answers[operation] = shownAnswer(answer);
    for (const link of linksIn(answer)) links.add(link);
    return { status: response.status, headers: response.headers, body: answer };
  };
  await askForExamples(ask, customer, receiver.url);
  if (isWriting) {
    const before = readExamples();
    // An example that shows the same members stays, so that a rewrite changes nothing but what changed.
    const renewed = Object.entries(answers).map(([operation, answer]) => {
      const kept = before[operation];
      return [operation, kept && unsharedMembers(answer, kept).length === 0 ? kept : answer] as const;
    });
    writeFileSync(EXAMPLES_FILE, `${JSON.stringify(Object.fromEntries(renewed), null, 2)}\n`);
  }
  // A link leads somewhere as it stands.
  expect(links.size).toBeGreaterThan(10);
  for (const link of links) {
    const { status } = await fetch(new URL(link, stack.baseUrl), { headers: credentials.key });
    expect([link, status]).toEqual([link, 200]);
  }
  const shown = readExamples();
  expect(Object.keys(shown)).toEqual(Object.keys(answers));
  const differences = Object.entries(answers).flatMap(([operation, answer]) =>
    unsharedMembers(answer, shown[operation]).map((member) => `${operation} ${member}`),
  );
  expect(differences).toEqual([]);
});
