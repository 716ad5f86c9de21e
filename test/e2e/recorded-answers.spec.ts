import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { projectPath } from '@app/platform/project-path.js';
import { Integrator } from '../support/integrator.js';
import { startReceiver, sharedStack, type Stack } from '../support/index.js';
import type { Receiver } from '../support/index.js';
import { Names, plainAnswer, shapeOf } from './recorded-answers/plain-answer.js';
import { makeRequests, type Call, type Credential } from './recorded-answers/requests.js';

/** RECORDED_ANSWERS=write rewrites the file, for an intended change of an answer. */
const isWriting = process.env['RECORDED_ANSWERS'] === 'write';
const path = projectPath('test/golden/api-answers.json');

const SCOPES = 'readings:write keys:read keys:write credits:read webhooks:read webhooks:write';

let stack: Stack;
let receiver: Receiver;

beforeAll(async () => {
  stack = await sharedStack();
  receiver = await startReceiver();
});

afterAll(async () => {
  await receiver?.stop();
  await stack?.stop();
});

it('answers as recorded, except for ids, times and human-readable texts', async () => {
  const names = new Names();
  const customer = await Integrator.open(stack, 20);
  const minted = await stack.ops(['token', 'mint', '--workspace', customer.workspaceId, '--scope', SCOPES]);
  const credentials: Readonly<Record<Credential, Record<string, string>>> = {
    key: { 'x-api-key': customer.apiKey },
    owner: { authorization: `Bearer ${(minted as { token: string }).token}` },
    nobody: {},
  };
  names.add(receiver.url, 'receiver');
  names.add(stack.baseUrl, 'api');
  const answers: Record<string, unknown> = {};
  const call: Call = async (name, method, target, { as = 'key', body, headers, shape = false } = {}) => {
    const response = await fetch(`${stack.baseUrl}/api/v1${target}`, {
      method,
      headers: { ...credentials[as], ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>;
    const answer = { status: response.status, headers: response.headers, body: json };
    answers[name] = plainAnswer(shape ? { ...answer, body: shapeOf(json) } : answer, names);
    return answer;
  };
  await makeRequests(call, customer, receiver.url);
  const lines = Object.entries(answers).map((entry) => entry.map((part) => JSON.stringify(part)).join(': '));
  const recorded = `{\n${lines.join(',\n')}\n}\n`;
  if (isWriting) writeFileSync(path, recorded);
  const golden = readFileSync(path, 'utf8');
  expect(answers).toEqual(JSON.parse(golden));
  // Compares the order of members too.
  expect(recorded).toBe(golden);
});
