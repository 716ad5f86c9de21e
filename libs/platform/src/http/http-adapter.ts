import { createServer, type RequestListener } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import type { Config } from '../config/settings.js';
import { FrontDoor } from './door/front-door.js';

/** By default, Node checks for late requests only every 30 seconds, whatever their limits. */
const LOOK_EVERY_MS = 1_000;

/**
 * A path has one spelling: neither `/API` nor `/api/` is `/api`. Otherwise an Idempotency-Key would have several
 * scopes.
 */
const strictExpress = (): express.Express => {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  return app;
};

/**
 * Express behind the front door, on a server that closes connections of clients that send requests too slowly (408).
 */
export class HttpAdapter extends ExpressAdapter {
  readonly door: FrontDoor;

  constructor(private readonly config: Config) {
    super(strictExpress());
    this.door = new FrontDoor(config);
  }

  override initHttpServer(): void {
    const server = createServer({
      headersTimeout: this.config.HTTP_HEADERS_TIMEOUT_MS,
      requestTimeout: this.config.HTTP_REQUEST_TIMEOUT_MS,
      keepAliveTimeout: this.config.HTTP_KEEP_ALIVE_MS,
      connectionsCheckingInterval: LOOK_EVERY_MS,
    });
    this.door.guard(server, this.getInstance<RequestListener>());
    this.setHttpServer(server);
  }
}
