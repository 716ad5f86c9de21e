import { Controller, Delete, Get } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { expect, it } from '@jest/globals';
import { Accepts, Public, ScopeArea } from '../../auth/authentication.js';
import { requireDeclared, routesOf } from './routes.js';

const SCOPES = ['credits:read', 'credits:write'];

@Controller('orders')
class DeclaredController {
  @Get(':orderId/lines')
  @Accepts('apiKey', 'bearer')
  @ScopeArea('credits')
  lines(): void {}

  @Get('terms')
  @Public()
  terms(): void {}
}

@Controller('orders')
class ForgetfulController {
  @Delete(':orderId')
  remove(): void {}

  @Get()
  @Accepts('bearer')
  list(): void {}
}

const routesWith = async (...controllers: (new () => object)[]) =>
  routesOf(await Test.createTestingModule({ controllers }).compile());

it('A route is read from its controller: its path, who may call it, and with what scope', async () => {
  expect(await routesWith(DeclaredController)).toMatchObject([
    {
      method: 'get',
      path: '/orders/{orderId}/lines',
      handler: 'DeclaredController.lines',
      modes: ['apiKey', 'bearer'],
      scope: 'credits:read',
    },
    { path: '/orders/terms', modes: 'public', scope: undefined },
  ]);
});

it('A route that does not say who may call it, or with what scope, keeps the service from starting', async () => {
  requireDeclared(await routesWith(DeclaredController), SCOPES);
  const routes = await routesWith(DeclaredController, ForgetfulController);
  expect(() => requireDeclared(routes, SCOPES)).toThrow(
    [
      "DELETE /orders/{orderId} (ForgetfulController.remove) does not say who may call it: add @Accepts('apiKey'), @Accepts('bearer') or @Public()",
      'GET /orders (ForgetfulController.list) accepts bearer tokens without naming their scope: add @ScopeArea(…)',
    ].join('\n'),
  );
});

it('A route of an area that no manifest lists keeps the service from starting', async () => {
  const routes = await routesWith(DeclaredController);
  expect(() => requireDeclared(routes, ['webhooks:read'])).toThrow(
    'GET /orders/{orderId}/lines (DeclaredController.lines) needs the scope credits:read, which no token can have',
  );
});
