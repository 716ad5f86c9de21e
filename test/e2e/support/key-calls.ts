import type { Stack } from '../../support/index.js';

export interface KeyAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

/** Requests of people and systems that manage the keys of a workspace. */
export const keyCalls = (stack: Stack) => ({
  /** A bearer token of the workspace, as the header that carries it. */
  async mint(workspaceId: string, scope: string): Promise<Record<string, string>> {
    const options = ['--workspace', workspaceId, '--scope', scope, '--subject', 'ada'];
    const minted = await stack.ops(['token', 'mint', ...options]);
    return { authorization: `Bearer ${(minted as { token: string }).token}` };
  },

  async call(
    method: string,
    path: string,
    credentials: Record<string, string>,
    body?: object,
  ): Promise<KeyAnswer> {
    const answer = await fetch(`${stack.baseUrl}/api/v1${path}`, {
      method,
      headers: { ...credentials, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
  },
});
