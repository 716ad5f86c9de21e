import type { Digester } from '#platform/crypto/digest.js';

/** Two spellings of the same characters are one external id. */
const canonical = (externalId: string): string => externalId.normalize('NFC');

export const isSameExternalId = (one: string, other: string): boolean => canonical(one) === canonical(other);

/** The keyed digest under which the readings of an external id are found. It lives and dies with their keys. */
export const externalIdLookup = (digester: Digester, workspaceId: string, externalId: string): Buffer =>
  digester.digest('external-id', workspaceId, canonical(externalId));
