import type { StartedProcess } from '../../support/start-processes.js';

export interface Key {
  readonly keyId: string;
  readonly apiKey: string;
}
export interface Listed {
  readonly data: readonly { readonly keyId: string; readonly revokedAt: string | null }[];
  readonly nextCursor: string | null;
}

export interface Customer {
  readonly workspaceId: string;
  readonly token: string;
}

export const manageKeys = async <T = Record<string, unknown>>(
  process: Pick<StartedProcess, 'baseUrl'>,
  { token }: Customer,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; body: T }> => {
  const answer = await fetch(`${process.baseUrl}/api/v1/keys${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as T };
};

/** A route that reads neither store, so its answer shows what the process knows of the key. */
export const statusOf = async ({ baseUrl }: StartedProcess, apiKey: string): Promise<number> => {
  const { status } = await fetch(`${baseUrl}/api/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: '{}',
  });
  return status;
};
export const KNOWN = 400;
