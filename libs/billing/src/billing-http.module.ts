import { Module } from '@nestjs/common';
import { BillingModule } from './billing.module.js';
import { GetCreditsController } from './application/get-credits.controller.js';

@Module({ imports: [BillingModule], controllers: [GetCreditsController] })
export class BillingHttpModule {}
