import { Module, type DynamicModule } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, APP_PIPE } from '@nestjs/core';
import type { Logger } from 'pino';
import { BillingHttpModule } from '#billing/billing-http.module.js';
import { PersonalDataGuard } from '#platform/audit/personal-data.js';
import { AuthGuard, ScopeGuard } from '#platform/auth/auth.guard.js';
import { NewWorkGuard } from '#platform/disk/new-work.guard.js';
import { AcceptGuard } from '#platform/http/accept.guard.js';
import { BodyPipe } from '#platform/http/body.pipe.js';
import { JsonBodyInterceptor } from '#platform/http/json-body.interceptor.js';
import { KnownParameters } from '#platform/http/known-parameters.interceptor.js';
import { ProblemFilter } from '#platform/http/problem.filter.js';
import { IdempotencyInterceptor } from '#platform/idempotency/idempotency.interceptor.js';
import { IdempotentRequests } from '#platform/idempotency/idempotent-requests.js';
import { PlatformModule } from '#platform/platform.module.js';
import { RateLimitGuard } from '#platform/rate-limit/rate-limit.guard.js';
import { PublishingHttpModule } from '#publishing/publishing-http.module.js';
import { ReadingsHttpModule } from '#readings/readings-http.module.js';
import { WebhooksHttpModule } from '#webhooks/webhooks.module.js';
import { WorkspacesHttpModule } from '#workspaces/workspaces.module.js';
import { HealthController } from './health.controller.js';
import type { Config } from '../../service/src/settings.js';

@Module({})
export class ApiModule {
  static forProcess(config: Config, log: Logger): DynamicModule {
    return {
      module: ApiModule,
      imports: [
        PlatformModule.forProcess(config, log),
        // The busiest routes first: Express compares a path with one route after the other.
        ReadingsHttpModule,
        PublishingHttpModule,
        WebhooksHttpModule,
        WorkspacesHttpModule,
        BillingHttpModule,
      ],
      controllers: [HealthController],
      providers: [
        { provide: APP_FILTER, useClass: ProblemFilter },
        { provide: APP_GUARD, useClass: AuthGuard },
        { provide: APP_GUARD, useClass: RateLimitGuard },
        { provide: APP_GUARD, useClass: ScopeGuard },
        { provide: APP_GUARD, useClass: AcceptGuard },
        { provide: APP_GUARD, useClass: PersonalDataGuard },
        { provide: APP_GUARD, useClass: NewWorkGuard },
        { provide: APP_INTERCEPTOR, useClass: JsonBodyInterceptor },
        { provide: APP_INTERCEPTOR, useClass: KnownParameters },
        IdempotentRequests,
        { provide: APP_INTERCEPTOR, useClass: IdempotencyInterceptor },
        { provide: APP_PIPE, useClass: BodyPipe },
      ],
    };
  }
}
