import { Controller, Delete, Get } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { expect, it } from '@jest/globals';
import { Accepts } from '../../auth/authentication.js';
import { requireDeclared, routesOf } from './describe-api.js';

@Controller('orders')
class DeclaredController {
  @Get(':orderId/lines')
  @Accepts({ apiKey: 'credits:read', bearer: 'credits:read' })
  lines(): void {}
}

@Controller('orders')
class ForgetfulController {
  @Delete(':orderId')
  remove(): void {}

  @Get()
  @Accepts({})
  list(): void {}
}

const routesWith = async (...controllers: (new () => object)[]) =>
  routesOf(await Test.createTestingModule({ controllers }).compile());

it('A route that does not say who may call it, and with what scope, keeps the service from starting', async () => {
  requireDeclared(await routesWith(DeclaredController));
  const routes = await routesWith(DeclaredController, ForgetfulController);
  expect(() => requireDeclared(routes)).toThrow(
    [
      "DELETE /orders/{orderId} (ForgetfulController.remove) does not say who may call it: add @Accepts({ apiKey: 'some:scope' }) or @Public()",
      "GET /orders (ForgetfulController.list) does not say who may call it: add @Accepts({ apiKey: 'some:scope' }) or @Public()",
    ].join('\n'),
  );
});
