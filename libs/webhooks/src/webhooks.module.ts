import { Module } from '@nestjs/common';
import { CreateWebhookEndpointHandler } from './application/create-webhook-endpoint/create-webhook-endpoint.handler.js';
import { EndpointStreams } from './application/endpoint-streams.js';
import { RESOLVE_HOST, resolveHost } from './application/resolve-host.js';
import { SecretVault } from './application/secrets/secret-vault.js';
import { UrlCheck } from './application/url-check.js';
import { EndpointRows } from './read-models/endpoint/endpoint-rows.js';

/** Webhook endpoints: their commands and what is known of them. */
@Module({
  providers: [
    { provide: RESOLVE_HOST, useValue: resolveHost },
    EndpointStreams,
    EndpointRows,
    SecretVault,
    UrlCheck,
    CreateWebhookEndpointHandler,
  ],
  exports: [RESOLVE_HOST, EndpointStreams, EndpointRows, SecretVault, UrlCheck],
})
export class WebhooksModule {}
