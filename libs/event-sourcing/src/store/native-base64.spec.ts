import { expect, it } from '@jest/globals';
import { createRequire } from 'node:module';
import { randomBytes } from 'node:crypto';
import { projectPath } from '@app/platform/project-path.js';
import protobuf from 'google-protobuf';

const message = protobuf.Message as unknown as {
  bytesAsU8: (this: void, value: string | Uint8Array) => Uint8Array;
};
const { bytesAsU8: characterByCharacter } = message;
await import('./native-base64.js');
const { bytesAsU8 } = message;

it('Base64 decodes to the same bytes as in google-protobuf, and bytes stay unchanged', () => {
  expect(bytesAsU8).not.toBe(characterByCharacter);
  for (let length = 0; length < 300; length += 1) {
    const bytes = randomBytes(length);
    const text = bytes.toString('base64');
    expect(Buffer.from(bytesAsU8(text))).toEqual(bytes);
    expect(Buffer.from(characterByCharacter(text))).toEqual(bytes);
    expect(bytesAsU8(bytes)).toEqual(characterByCharacter(bytes));
  }
});

it('The client of the event store uses the same google-protobuf', () => {
  const resolve = createRequire(projectPath('package.json')).resolve;
  const ofClient = createRequire(resolve('@eventstore/db-client')).resolve('google-protobuf');
  expect(ofClient).toBe(resolve('google-protobuf'));
});
