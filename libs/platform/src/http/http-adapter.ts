import { createServer, type RequestListener } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express from 'express';
import type { Config } from '../config/settings.js';
import { FrontDoor } from './door/front-door.js';

/** Node looks for requests that are late every 30 seconds unless told otherwise, whatever their limits are. */
const LOOK_EVERY_MS = 1_000;

/** A path has one spelling: `/API` is not `/api`, nor is `/api/`. Two of them would be two scopes of an Idempotency-Key. */
const strictExpress = (): express.Express => {
  const app = express();
  app.set('case sensitive routing', true);
  app.set('strict routing', true);
  return app;
};

/**
 * Express behind the front door, on a server that closes the connections of clients that send their requests too slowly
 * (408).
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
      connectionsCheckingInterval: LOOK_EVERY_MS,
    });
    this.door.guard(server, this.getInstance<RequestListener>());
    this.setHttpServer(server);
  }
}
