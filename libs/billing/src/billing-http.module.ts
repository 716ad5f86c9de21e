import { Module } from '@nestjs/common';
import { BillingModule } from './billing.module.js';
import { CreditsController } from './http/credits.controller.js';

@Module({ imports: [BillingModule], controllers: [CreditsController] })
export class BillingHttpModule {}
