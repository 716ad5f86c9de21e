import { exportJWK, SignJWT } from 'jose';
import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { RANDOM_BYTES, base62 } from '#workspaces/domain/api-key.js';

const ISSUER = 'https://portal.example';
const KID = 'k1';

/** A portal whose tokens the service accepts. The operator's commands also mint tokens, but take seconds to start. */
export class Portal {
  private readonly pair = generateKeyPairSync('ed25519');

  /** Settings for the service. */
  async settings(): Promise<Record<string, string>> {
    const jwk = { ...(await exportJWK(this.pair.publicKey)), kid: KID, alg: 'EdDSA' };
    return { TOKEN_ISSUER: ISSUER, TOKEN_JWKS: JSON.stringify({ keys: [jwk] }) };
  }

  mint(workspaceId: string, scope: string, subject?: string): Promise<string> {
    return new SignJWT({ wid: workspaceId, scope, ...(subject !== undefined && { sub: subject }) })
      .setProtectedHeader({ alg: 'EdDSA', kid: KID })
      .setIssuer(ISSUER)
      .setAudience('reading-service')
      .setExpirationTime('10m')
      .sign(this.pair.privateKey);
  }
}

/** An event of a workspace's stream, as stored. */
export const workspaceEvent = (type: string, workspaceId: string, data: object): EventToAppend => ({
  id: randomUUID(),
  type,
  data,
  metadata: {
    correlationId: 'test',
    causationId: 'test',
    workspaceId,
    actor: 'test',
    occurredAt: new Date().toISOString(),
    schemaVersion: 1,
  },
});

/** Opens a workspace without an operator. @returns its id */
export const openWorkspace = async (log: EventStore, name = 'Test'): Promise<string> => {
  const workspaceId = `ws_${base62(randomBytes(RANDOM_BYTES), 22)}`;
  const opened = workspaceEvent('WorkspaceOpened', workspaceId, { workspaceId, name });
  await log.append(`workspace-${workspaceId}`, 'no_stream', [opened]);
  return workspaceId;
};
