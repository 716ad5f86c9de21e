// caught by: contracts-are-light
import { Module } from '@nestjs/common';

@Module({})
export class WebhooksProjections {}
