import { applyDecorators, Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Accepts, ScopeArea } from '@app/platform/auth/authentication.js';

/** The routes of a workspace's API keys. Bearer only: a leaked key must not issue others. */
export const ApiKeyRoutes = () =>
  applyDecorators(Controller('api/v1/keys'), Accepts('bearer'), ScopeArea('keys'), ApiTags('Keys'));
