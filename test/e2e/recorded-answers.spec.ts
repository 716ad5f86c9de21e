import { expect, it } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { Integrator, untilServed } from '../support/integrator.js';
import { fixture, sharedStack, startReceiver } from '../support/index.js';
import { EXAMPLES_FILE, readExamples } from '../../apps/api/src/recorded-examples.js';
import {
  askForExamples,
  shownAnswer,
  unsharedMembers,
  type Ask,
  type Credential,
} from './support/recorded-examples.js';

/** RECORDED_ANSWERS=write rewrites the examples, for an intended change of an answer. */
const isWriting = process.env['RECORDED_ANSWERS'] === 'write';

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

it('answers with the members that the examples of its OpenAPI document show', async () => {
  const customer = await Integrator.open(stack, 40);
  const credentials = await credentialsOf(customer);
  const answers: Record<string, Record<string, unknown>> = {};
  const ask: Ask = async (operation, { of = [], query = '', body, as = 'key' } = {}) => {
    const [method, template] = operation.split(' ') as [string, string];
    const values = [...of];
    const path = template.replaceAll(/\{\w+\}/g, () => String(values.shift()));
    const { response, json: answer } = await sent(method, path + query, credentials[as], body);
    expect({ operation, ok: response.ok, ...(!response.ok && answer) }).toEqual({ operation, ok: true });
    if (operation === 'POST /api/v1/webhooks') receiver.secret = String(answer['signingSecret']);
    answers[operation] = shownAnswer(answer);
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
  const shown = readExamples();
  expect(Object.keys(shown)).toEqual(Object.keys(answers));
  const differences = Object.entries(answers).flatMap(([operation, answer]) =>
    unsharedMembers(answer, shown[operation]).map((member) => `${operation} ${member}`),
  );
  expect(differences).toEqual([]);
});
