import { applyDecorators, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Accepts, type Principal } from '#platform/auth/authentication.js';
import { PERSONS_SCOPE, SHOW_PERSONS } from '#platform/auth/scopes.js';
import type { KeyManager } from '../contracts/commands.js';

/** The routes of a workspace's API keys. */
export const ApiKeyRoutes = () => applyDecorators(Controller('api/v1/keys'), ApiTags('Keys'));

/** Declares that a route shows keys. */
export const ReadsKeys = () => Accepts({ apiKey: 'keys:write', bearer: 'keys:read' });
/** Declares that a route issues or ends keys. */
export const WritesKeys = () => Accepts({ apiKey: 'keys:write', bearer: 'keys:write' });

/** What a caller may do with keys. */
export const managerOf = ({ authMode, actor, sees, scopes, openedBy }: Principal): KeyManager => ({
  keyId: authMode === 'apiKey' ? actor.slice('apiKey:'.length) : (openedBy ?? null),
  sees,
  ...(authMode === 'session' && {
    scopes,
    hides: scopes.includes(PERSONS_SCOPE) ? [] : SHOW_PERSONS,
  }),
});
