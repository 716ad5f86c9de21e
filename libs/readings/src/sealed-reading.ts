import type { Digester } from '#platform/crypto/digest.js';
import type { SubjectKey } from '#platform/crypto/subject-keys.js';
import { openPadded, sealPadded } from '#platform/padding/padding.js';
import type { ReadingInput } from './domain/reading-input.js';

/** Lengths are padded to multiples of these bytes. Nearly every input, and every result, fits one step. */
const INPUT_STEP = 512;
const REFERENCED_INPUT_STEP = 1_024;
const RESULT_STEP = 8_192;

/** What the caller sent about a person, sealed with the reading's key, in base64. */
export const sealInput = (key: SubjectKey, input: ReadingInput): string => {
  const isReferenced = input.externalId !== undefined || input.metadata !== undefined;
  const step = isReferenced ? REFERENCED_INPUT_STEP : INPUT_STEP;
  return sealPadded(key, 'input', step, Buffer.from(JSON.stringify(input))).toString('base64');
};

/** @throws SealBroken */
export const openInput = (key: SubjectKey, sealedInput: string): ReadingInput =>
  JSON.parse(openPadded(key, 'input', Buffer.from(sealedInput, 'base64')).toString('utf8')) as ReadingInput;

export const sealResult = (key: SubjectKey, bytes: Uint8Array): string =>
  sealPadded(key, 'result', RESULT_STEP, bytes).toString('base64');

/** The bytes of `/result`. @throws SealBroken */
export const openResult = (key: SubjectKey, sealedResult: string): Buffer =>
  openPadded(key, 'result', Buffer.from(sealedResult, 'base64'));

/** Two spellings of the same characters are one external id. */
const canonical = (externalId: string): string => externalId.normalize('NFC');

export const isSameExternalId = (one: string, other: string): boolean => canonical(one) === canonical(other);

/** The keyed digest under which the readings of an external id are found. It lives and dies with their keys. */
export const externalIdLookup = (digester: Digester, workspaceId: string, externalId: string): Buffer =>
  digester.digest('external-id', workspaceId, canonical(externalId));
