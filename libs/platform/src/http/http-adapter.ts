import { createServer, type RequestListener } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Config } from '../config/settings.js';

/** Node looks for requests that are late every 30 seconds unless told otherwise, whatever their limits are. */
const LOOK_EVERY_MS = 1_000;

/** Express on a server that closes the connections of clients that send their requests too slowly (408). */
export class HttpAdapter extends ExpressAdapter {
  constructor(private readonly limits: Pick<Config, 'HTTP_HEADERS_TIMEOUT_MS' | 'HTTP_REQUEST_TIMEOUT_MS'>) {
    super();
  }

  override initHttpServer(): void {
    const server = createServer(
      {
        headersTimeout: this.limits.HTTP_HEADERS_TIMEOUT_MS,
        requestTimeout: this.limits.HTTP_REQUEST_TIMEOUT_MS,
        connectionsCheckingInterval: LOOK_EVERY_MS,
      },
      this.getInstance<RequestListener>(),
    );
    this.setHttpServer(server);
  }
}
